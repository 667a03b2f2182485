#!/bin/sh
# Builds the plugin: build.sh OUT writes OUT/polite.wasm. Needs Python 3.10 or later.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

python3 -m venv "$out/venv"
"$out/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes --requirement "$here/requirements.txt"
cd "$here"
"$out/venv/bin/componentize-py" --wit-path ../../sandbox/wit --world plugin \
    componentize plugin --output "$out/polite.wasm"
