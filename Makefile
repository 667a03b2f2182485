# Two commands set up everything: `make demo` and `make test`.

.PHONY: demo train-demo test test-kills test-train test-python test-trainers test-serve test-view test-otel test-c test-code-parses test-export test-repositories wheel dist release features \
	assets assets-portable assets-c browser fmt bench bench-answers

# What demo and tests are built of: the same packages with the same features, so that nothing is
# compiled twice.
BUILD := --workspace --features assay-cli/as-tested --locked
DEV := target/debug/assay
ASSAY := target/release/assay
GUESTS := target/assets/python.wasm target/assets/javascript.wasm
PYTHON_GUEST := python3 sandbox/guests/python/build.py target/assets
JAVASCRIPT_GUEST := sandbox/guests/javascript/build.sh target
DATA := fixtures/datasets
MODELS := fixtures/models
RUBRICS := fixtures/rubrics/examples
TRAINING := fixtures/training
DEMO := target/demo
EXPORT := target/export

# Each kind of verifier on real model outputs, compared with the labels that came with them: a verdict
# explained; math and choice answers; programs in the sandbox; the steps of solutions by a process model;
# responses by a rubric whose judge was recorded; and the advantages within a group.
demo:
	$(PYTHON_GUEST) --component & cargo build $(BUILD) --bin assay --bin assay-guest-joiner && wait
	$(PYTHON_GUEST)
	$(DEV) precompile target/assets/python.wasm
	$(DEV) check math --completion 'So the total is \boxed{\frac{6}{4}}.' --reference 1.5
	$(DEV) score $(DATA)/programs.toml $(DATA)/code-humaneval.jsonl.gz --output $(DEMO)-programs --labels label --fresh
	$(DEV) explain $(DEMO)-programs --lowest 1
	$(DEV) score $(DATA)/demo.toml $(DATA)/gsm8k-openai.jsonl.gz $(DATA)/mmlu-pro.jsonl.gz \
		--output $(DEMO) --labels label --fresh
	$(DEV) score $(DATA)/steps.toml $(DATA)/arithmetic-steps.jsonl.gz --allow-path $(MODELS) \
		--output $(DEMO)-steps --labels right --fresh
	$(DEV) explain $(DATA)/steps.toml $(DATA)/arithmetic-steps.jsonl.gz --allow-path $(MODELS) --id arithmetic-11
	$(DEV) score $(RUBRICS)/graders.toml $(RUBRICS)/graders.jsonl.gz --output $(DEMO)-graders --labels label --fresh
	$(DEV) explain $(RUBRICS)/stub-letter.toml $(RUBRICS)/stub-letter.jsonl --id letter-invented-quotation
	$(DEV) advantages $(DEMO) --kind grpo --output $(DEMO)/advantages.jsonl
	grep '"gsm8k-openai/3/' $(DEMO)/advantages.jsonl

# Trains a small policy by GRPO on what answers earn, and by what a process model says of their steps;
# prints the curves before and after.
train-demo: assets
	cargo build --release --locked --package assay-cli --features train
	$(ASSAY) train $(TRAINING)/demo.toml --output target/train-demo --fresh
	$(ASSAY) train $(TRAINING)/demo-steps.toml --output target/train-demo-steps --fresh --allow-path $(MODELS)

# The guests of the sandbox, compiled for this machine's architecture, and the library of ONNX Runtime.
# Nothing is done where nothing has changed.
assets: assets-portable
	cargo build --release --locked --package assay-cli
	$(ASSAY) precompile $(GUESTS)

# The same without the compiled forms: the first run compiles the guests, which takes seconds.
assets-portable:
	python3 reward-models/onnxruntime/fetch.py target/assets
	$(PYTHON_GUEST)
	$(JAVASCRIPT_GUEST)

# The toolchain of C and C++, for builds with `--features c`.
assets-c:
	python3 sandbox/guests/c/build.py target

# What the demo built is not built again, what lints also compiles, and what tests the examples also documents, so that
# dependencies are not checked besides. The guests are compiled ahead of the tests, many of which start a process
# of their own that would compile them. What keeps one core busy runs beside what keeps cargo busy. Tests of
# processes wait for a good part of their time: four run at once, and beside them the Python tests, the
# documentation and the unit tests, whose output comes at the end.
LINTED := demo test test-kills test-view test-python test-trainers bench-answers
$(LINTED): export RUSTC_WORKSPACE_WRAPPER = $(CURDIR)/.ci/rustc
$(LINTED): export CLIPPY_ARGS = -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
test:
	{ $(JAVASCRIPT_GUEST) && $(PYTHON_GUEST) --component; } & cargo fmt --all --check && cargo test $(BUILD) --all-targets --no-run && wait $$!
	$(MAKE) assets-portable
	$(DEV) precompile $(GUESTS)
	python/wheel.sh dev
	python/test.sh > target/python-tests.log 2>&1 & python=$$!; \
	{ RUSTDOC=$(CURDIR)/.ci/rustdoc cargo test $(BUILD) --doc && \
		cargo test $(BUILD) --lib --bins --examples; } > target/unit-tests.log 2>&1 & units=$$!; \
	RUST_TEST_THREADS=4 cargo test $(BUILD) --test '*'; status=$$?; \
	wait $$units || status=$$?; wait $$python || status=$$?; \
	cat target/unit-tests.log target/python-tests.log; exit $$status

# Sessions that are killed at work, 200 over each of rules, the sandbox and a model.
test-kills: assets-portable
	cargo test $(BUILD) --test it kills::many -- --ignored --nocapture --test-threads 1

# Trainings that take minutes: that they are TRL's, what they learn, and that hacks are seen in time.
test-train: assets
	cargo test --release --package assay-trainer --features train --locked -- --include-ignored
	cargo build --release --locked --package assay-cli --features train
	python3 $(TRAINING)/check.py $(ASSAY)

# The daemon under load, slow and hostile clients, every path against its schema, and a soak of ten minutes
# (`SOAK=60`: of one).
test-serve: assets
	fixtures/serve/openapi.sh $(abspath $(ASSAY)) $(abspath target/schemathesis)
	python3 fixtures/serve/check.py --assay $(ASSAY) --soak $(or $(SOAK),600)

# Chromium of Debian, where there is none; tests of pages run in it.
browser:
	command -v chromium-headless-shell || command -v chromium || { apt-get update --quiet && \
		apt-get install --yes --no-install-recommends chromium-headless-shell; }

# The pages of `assay view` and `assay report` in a browser, which `make test` leaves out where there is none.
test-view: assets-portable browser
	ASSAY_BROWSER=$$(command -v chromium-headless-shell || command -v chromium) cargo test $(BUILD) --package assay-cli --test it pages::

# The traces of the daemon, which are off by default. The workspace is built as for `make test`, so that
# little is built twice.
test-otel:
	cargo clippy $(BUILD) --package assay-cli --all-targets --features assay-cli/otel -- -D warnings
	cargo test $(BUILD) --features assay-cli/otel --test it traces::

# The package for Python alone: its wheel, in the profile of the tests, in an environment of its own.
test-python: assets-portable
	python/wheel.sh dev
	python/test.sh

# The adapters under the code of their trainers, which are large; `make test-trainers TRAINERS="torch ray"`
# runs some of them.
test-trainers: assets-portable
	python/wheel.sh dev
	python/tests/trainers/run.sh $(TRAINERS)

# One wheel for people, in target/wheels: the extension, which is the command too, and the guests, for glibc
# 2.28 and later. `make wheel WHEEL_TARGET=aarch64-unknown-linux-gnu` builds it for another processor, after
# `rustup target add aarch64-unknown-linux-gnu`.
wheel: assets-portable
	python/wheel.sh release $(WHEEL_TARGET)

# An archive for people, in target/dist-archive: the command with its guests compiled ahead, licences,
# completions. It is tried in an empty folder with an empty environment.
dist: assets-portable
	cli/dist/build.sh $(WHEEL_TARGET)

# What is run before a release: both come out, have their size, and work alone.
release: wheel dist

# Fixes of public projects, and ten cheats for each fix: pip fetches their releases.
test-repositories: assets
	python3 fixtures/repositories/check.py --assay $(ASSAY)

# Grammars of programming languages.
test-code-parses:
	cargo test --package assay-verifiers --features code-parses --locked --test cases -- "code_parses:"

# Programs of C and C++.
test-c: assets-c
	cargo clippy $(BUILD) --all-targets --features assay-cli/c -- -D warnings
	cargo test $(BUILD) --features assay-cli/c --test cases -- "[c]"
	cargo test $(BUILD) --features assay-cli/c --test it serve_files::

# Nothing is missed where a feature is off: none of them, and each by itself. `make test` builds all.
features:
	cargo clippy --package assay --no-default-features --locked -- -D warnings
	set -e; for feature in code-parses compression groups json-schema models otel parquet rubrics sandbox serve sql tasks tokenizers train; do \
		echo "only $$feature"; \
		cargo clippy --package assay --no-default-features --features $$feature --locked -- -D warnings; \
	done
	set -e; for feature in "" otel serve train; do \
		echo "the command with $$feature"; \
		cargo clippy --package assay-cli --no-default-features --features "$$feature" --locked -- -D warnings; \
	done
	cargo test --package assay --no-default-features --lib --locked

# The exporter of models makes the fixtures again, byte for byte. Needs torch, which is large.
test-export: assets-portable
	python/wheel.sh dev
	python3 -m venv $(EXPORT)/venv
	$(EXPORT)/venv/bin/pip install --quiet --force-reinstall --no-deps target/wheel/dev/*.whl
	for wheel in target/wheel/dev/*.whl; do $(EXPORT)/venv/bin/pip install --quiet "$$wheel[export]"; done
	$(EXPORT)/venv/bin/pip install --quiet pytest==9.2.0
	$(EXPORT)/venv/bin/python -m pytest --quiet python/tests/test_export_*.py
	OMP_NUM_THREADS=1 $(EXPORT)/venv/bin/python -m assay.export.fixtures $(EXPORT)/models --against $(MODELS)

fmt:
	cargo fmt --all

# Whole-program speed, each figure beside its yardstick of the same run.
bench:
	cargo bench --locked

# How many honest answers are paid and dishonest ones refused, by check, language and form, over both halves
# of fixtures/answers.
bench-answers:
	cargo test $(BUILD) --test answers -- --ignored --nocapture
