#!/bin/sh
# Builds the plugin: build.sh OUT writes OUT/polite.wasm. Needs Python 3.10 or later. Nothing is done
# where nothing has changed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

inputs=$(cd "$here" && cat build.sh requirements.txt plugin.py ../../sandbox/wit/plugin.wit | sha256sum)
if [ -f "$out/polite.wasm" ] && [ "$(cat "$out/built" 2>/dev/null)" = "$inputs" ]; then
    exit 0
fi
python3 -m venv "$out/venv"
"$out/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes --requirement "$here/requirements.txt"
cd "$here"
PYTHONDONTWRITEBYTECODE=1 "$out/venv/bin/componentize-py" --wit-path ../../sandbox/wit/plugin.wit \
    --world plugin componentize plugin --output "$out/polite.wasm"
echo "$inputs" > "$out/built"
