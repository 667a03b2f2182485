#!/bin/sh
# Installs maturin and zig into an environment of their own, and prints the folder of their commands.
set -eu

cd "$(dirname "$0")/.."
work=target/wheel
mkdir -p $work
if [ "$(cat $work/tools/ready 2>/dev/null)" != "$(sha256sum < python/wheel-requirements.txt)" ]; then
    rm -rf $work/tools
    python3 -m venv $work/tools
    $work/tools/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
        --requirement python/wheel-requirements.txt
    sha256sum < python/wheel-requirements.txt > $work/tools/ready
fi
echo $work/tools/bin
