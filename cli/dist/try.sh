#!/bin/sh
# Uses a command in the current, empty folder, with an empty environment: try.sh ASSAY. Archive and wheel are
# checked by it alike.
set -eu

command=$1
assay() { env -i HOME="$PWD/home" PATH=/nowhere "$command" "$@"; }

assay check math --completion '\boxed{\frac{6}{4}}' --reference 1.5 | grep -q 'scored 1'
program='def add(a, b):
    return a + b'
assay check unit_tests --completion "$program" --reference '{"test_list": ["assert add(1, 2) == 3"]}' | grep -q 'scored 1'
assay init first > /dev/null
assay score first/assay.toml first/data.jsonl --output run > /dev/null
[ "$(wc -l < run/verdicts.jsonl)" -gt 0 ]
