#!/bin/sh
# Builds the plugin: build.sh OUT writes OUT/polite.wasm, after `rustup target add wasm32-wasip2`.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

cargo build --quiet --locked --release --target wasm32-wasip2 --target-dir "$out/build" \
    --manifest-path "$here/Cargo.toml"
cp "$out/build/wasm32-wasip2/release/polite.wasm" "$out/polite.wasm"
