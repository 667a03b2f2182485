#!/bin/sh
# Installs tools of wheel-requirements.txt into an environment of their own, and prints the folder of their
# commands: wheel-tools.sh TOOL...
set -eu

cd "$(dirname "$0")/.."
work=target/wheel
mkdir -p $work
wanted="$* $(sha256sum < python/wheel-requirements.txt)"
if [ "$(cat $work/tools/ready 2>/dev/null)" != "$wanted" ]; then
    rm -rf $work/tools
    python3 -m venv --without-pip $work/tools
    python3 -m pip --python $work/tools install --quiet --no-compile --disable-pip-version-check \
        --only-binary :all: --constraint python/wheel-requirements.txt "$@"
    echo "$wanted" > $work/tools/ready
fi
echo $work/tools/bin
