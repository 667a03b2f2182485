#!/bin/sh
# Installs tools of wheel-requirements.txt into an environment of their own, and prints the folder of their
# commands: wheel-tools.sh TOOL...
set -eu

cd "$(dirname "$0")/.."
tools=target/wheel/tools/$(echo "$*" | tr ' ' -)
wanted=$(sha256sum < python/wheel-requirements.txt)
if [ "$(cat "$tools/ready" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$tools"
    mkdir -p "$tools"
    python3 -m venv --without-pip "$tools"
    python3 -m pip --python "$tools" install --quiet --no-compile --disable-pip-version-check \
        --only-binary :all: --constraint python/wheel-requirements.txt "$@"
    echo "$wanted" > "$tools/ready"
fi
echo "$tools/bin"
