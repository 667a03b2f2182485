#!/bin/sh
# Installs a wheel alone into an empty environment and uses it there: check-wheel.sh WHEEL.
set -eu

env=$(mktemp -d)
trap 'rm -rf "$env"' EXIT
python3 -m venv "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$1"
cd "$env"
# Neither a home nor settings of this machine.
assay() { env -i HOME="$env/home" PATH=/nowhere "$env/bin/assay" "$@"; }

assay check math --completion '\boxed{\frac{6}{4}}' --reference 1.5 | grep -q 'scored 1'
assay init first > /dev/null
assay score first/assay.toml first/data.jsonl --output run > /dev/null
assay check unit_tests --completion 'def add(a, b):
    return a + b' --reference '{"test_list": ["assert add(1, 2) == 3"]}' | grep -q 'scored 1'
env -i HOME="$env/home" "$env/bin/python" -c 'import assay; assert assay.math_equal("6/4", "1.5")'
echo "$1: works alone" >&2
