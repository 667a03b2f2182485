# Two commands set up everything: `make demo` and `make test`.

.PHONY: demo train-demo test test-kills test-train test-python test-trainers test-serve test-otel test-c test-export wheel features \
	assets assets-portable assets-c fmt bench

ASSAY := target/release/assay
GUESTS := target/assets/python.wasm target/assets/javascript.wasm
DATA := fixtures/datasets
MODELS := fixtures/models
RUBRICS := fixtures/rubrics/examples
TRAINING := fixtures/training
DEMO := target/demo
EXPORT := target/export

# Scores real model outputs and compares the rewards with the labels that came with them; then 200
# solutions by a process model, and the scores of the steps of one of them; then responses by rubrics,
# whose judges' replies were recorded.
demo:
	cargo build --release --locked --bin assay
	$(ASSAY) score $(DATA)/demo.toml $(DATA)/gsm8k-openai.jsonl.gz $(DATA)/mmlu-pro.jsonl.gz \
		--output $(DEMO) --labels label --fresh
	$(ASSAY) score $(DATA)/steps.toml $(DATA)/arithmetic-steps.jsonl.gz --allow-path $(MODELS) \
		--output $(DEMO)-steps --labels right --fresh
	$(ASSAY) explain $(DATA)/steps.toml $(DATA)/arithmetic-steps.jsonl.gz --allow-path $(MODELS) \
		--id arithmetic-11
	$(ASSAY) score $(RUBRICS)/graders.toml $(RUBRICS)/graders.jsonl.gz \
		--output $(DEMO)-graders --labels label --fresh
	$(ASSAY) explain $(RUBRICS)/stub-letter.toml $(RUBRICS)/stub-letter.jsonl --id letter-invented-quotation

# Trains a small policy by GRPO on what answers earn, and by what a process model says of their steps;
# prints the curves before and after.
train-demo: assets
	cargo build --release --locked --features train --bin assay
	$(ASSAY) train $(TRAINING)/demo.toml --output target/train-demo --fresh
	$(ASSAY) train $(TRAINING)/demo-steps.toml --output target/train-demo-steps --fresh --allow-path $(MODELS)

# The guests of the sandbox, compiled for this machine's architecture, and the library of ONNX Runtime.
# Nothing is done where nothing has changed.
assets: assets-portable
	cargo build --release --locked --bin assay
	$(ASSAY) precompile $(GUESTS)

# The same without the compiled forms: the first run compiles the guests, which takes seconds.
assets-portable:
	python3 reward-models/onnxruntime/fetch.py target/assets
	python3 sandbox/guests/python/build.py target/assets
	sandbox/guests/javascript/build.sh target

# The toolchain of C and C++, for builds with `--features c`.
assets-c:
	python3 sandbox/guests/c/build.py target

# With `assay train`, which people build by themselves: whatever is built here has it, so that nothing
# is built twice. The guests are compiled ahead of the tests, many of which start a process of their own
# that would compile them.
test: assets-portable
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features train --locked -- -D warnings
	cargo test --workspace --features train --locked --no-run
	target/debug/assay precompile $(GUESTS)
	cargo test --workspace --features train --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --features train --no-deps --locked
	python/wheel.sh dev
	python/test.sh

# Sessions that are killed at work, 200 over each of rules, the sandbox and a model.
test-kills: assets-portable
	cargo test --package assay --features train --locked --test it kills::many -- --ignored --nocapture --test-threads 1

# Trainings that take minutes: that they are TRL's, what they learn, and that hacks are seen in time.
test-train: assets
	cargo test --release --package assay-trainer --features train --locked -- --include-ignored
	cargo build --release --locked --features train --bin assay
	python3 $(TRAINING)/check.py $(ASSAY)

# The daemon under load, slow and hostile clients, every path against its schema, and a soak of ten minutes
# (`SOAK=60`: of one).
test-serve: assets
	fixtures/serve/openapi.sh $(abspath $(ASSAY)) $(abspath target/schemathesis)
	python3 fixtures/serve/check.py --assay $(ASSAY) --soak $(or $(SOAK),600)

# The traces of the daemon, which are off by default. The workspace is built as for `make test`, so that
# little is built twice.
test-otel:
	cargo clippy --package assay --all-targets --features otel,train --locked -- -D warnings
	cargo test --package assay --features otel,train --locked --test it traces::

# The package for Python alone: its wheel, in the profile of the tests, in an environment of its own.
test-python: assets-portable
	python/wheel.sh dev
	python/test.sh

# The adapters under the code of their trainers, which are large; `make test-trainers TRAINERS="torch ray"`
# runs some of them.
test-trainers: assets-portable
	python/wheel.sh dev
	python/tests/trainers/run.sh $(TRAINERS)

# One wheel for people, in target/wheels: the extension, the command and the guests, for glibc 2.28 and
# later. `make wheel WHEEL_TARGET=aarch64-unknown-linux-gnu` builds it for another processor, after
# `rustup target add aarch64-unknown-linux-gnu`.
wheel: assets-portable
	python/wheel.sh release $(WHEEL_TARGET)

# Programs of C and C++. The workspace is built as for `make test`, so that nothing is built twice.
test-c: assets-c
	cargo clippy --workspace --all-targets --features c,train --locked -- -D warnings
	cargo test --workspace --features c,train --locked --test cases -- "[c]"
	cargo test --workspace --features c,train --locked --test it serve_files::

# Nothing is missed where a feature is off: none of them, and each by itself. `make test` builds all.
features:
	cargo clippy --no-default-features --locked -- -D warnings
	set -e; for feature in cli compression groups json-schema models otel parquet rubrics sandbox serve sql tokenizers train cli,otel cli,serve cli,train; do \
		echo "only $$feature"; \
		cargo clippy --no-default-features --features $$feature --locked -- -D warnings; \
	done
	cargo test --no-default-features --lib --locked

# The exporter of models makes the fixtures again, byte for byte. Needs torch, which is large.
test-export: assets-portable
	python/wheel.sh dev
	python3 -m venv $(EXPORT)/venv
	$(EXPORT)/venv/bin/pip install --quiet --force-reinstall --no-deps target/wheel/dev/*.whl
	for wheel in target/wheel/dev/*.whl; do $(EXPORT)/venv/bin/pip install --quiet "$$wheel[export]"; done
	OMP_NUM_THREADS=1 $(EXPORT)/venv/bin/python -m assay.export.fixtures $(EXPORT)/models --against $(MODELS)

fmt:
	cargo fmt --all

# Whole-program speed, each figure beside its yardstick of the same run.
bench:
	cargo bench --locked
