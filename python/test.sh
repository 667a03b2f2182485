#!/bin/sh
# Tests the wheel of `wheel.sh dev` in an environment of its own, target/wheel/tests: what it holds, its
# examples, its types, and those of the tests.
set -eu

cd "$(dirname "$0")"
work=../target/wheel
env=$work/tests

if [ "$(cat $env/ready 2>/dev/null)" != "$(sha256sum < tests/requirements.txt)" ]; then
    rm -rf $env
    python3 -m venv --without-pip $env
    python3 -m pip --python $env install --quiet --no-compile --disable-pip-version-check --only-binary :all: \
        --requirement tests/requirements.txt
    sha256sum < tests/requirements.txt > $env/ready
fi
python3 -m pip --python $env install --quiet --disable-pip-version-check --force-reinstall --no-deps $work/dev/*.whl

# From here, so that `assay` is the installed package and not the folder beside this file.
(cd tests && ../$env/bin/python -m pytest --quiet --ignore trainers --ignore node_modules)

$env/bin/python -m mypy assay tests/*.py
(cd tests && ../$env/bin/python -m mypy.stubtest assay._core)
[ tests/node_modules/.package-lock.json -nt tests/package-lock.json ] || npm ci --prefix tests --silent
node tests/node_modules/pyright/index.js --pythonpath $env/bin/python
