# Two commands set up everything: `make demo` and `make test`.

.PHONY: demo test test-c assets assets-c fmt bench

ASSAY := target/release/assay
DATA := fixtures/datasets
DEMO := target/demo

# Scores real model outputs and compares the rewards with the labels that came with them.
demo:
	cargo build --release --locked --bin assay
	$(ASSAY) score $(DATA)/demo.toml $(DATA)/gsm8k-openai.jsonl.gz $(DATA)/mmlu-pro.jsonl.gz \
		--output $(DEMO) --labels label --fresh

# The guests of the sandbox, and the library of ONNX Runtime. Nothing is done where nothing has
# changed.
assets:
	python3 reward-models/onnxruntime/fetch.py target/assets
	python3 sandbox/guests/python/build.py target/assets
	sandbox/guests/javascript/build.sh target

# The toolchain of C and C++, for builds with `--features c`.
assets-c:
	python3 sandbox/guests/c/build.py target

test: assets
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Programs of C and C++. The workspace is built as for `make test`, so that nothing is built twice.
test-c: assets-c
	cargo clippy --workspace --all-targets --features c --locked -- -D warnings
	cargo test --workspace --features c --locked --test c

fmt:
	cargo fmt --all

# Whole-program speed, each figure beside its yardstick of the same run.
bench:
	cargo bench --locked
