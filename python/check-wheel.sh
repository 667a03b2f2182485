#!/bin/sh
# Installs a wheel alone into an empty environment and uses it there: check-wheel.sh WHEEL.
set -eu

try=$(realpath "$(dirname "$0")/../cli/dist/try.sh")
env=$(mktemp -d)
trap 'rm -rf "$env"' EXIT
python3 -m venv "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$1"
cd "$env"
"$try" "$env/bin/assay"
env -i HOME="$env/home" "$env/bin/python" -c 'import assay; assert assay.math_equal("6/4", "1.5")'
echo "$1: works alone" >&2
