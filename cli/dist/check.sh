#!/bin/sh
# Unpacks an archive into an empty folder and uses the command there, with an empty environment: check.sh ARCHIVE.
set -eu

archive=$(realpath "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
tar -xzf "$archive"
assay() { env -i HOME="$place/home" "$place"/*/assay "$@"; }

assay check math --completion '\boxed{\frac{6}{4}}' --reference 1.5 | grep -q 'scored 1'
program='def add(a, b):
    return a + b'
assay check unit_tests --completion "$program" --reference '{"test_list": ["assert add(1, 2) == 3"]}' | grep -q 'scored 1'
assay init first > /dev/null
assay score first/assay.toml first/data.jsonl --output run > /dev/null
[ "$(wc -l < run/verdicts.jsonl)" -gt 0 ]
echo "$archive: works alone" >&2
