#!/bin/sh
# Unpacks an archive into an empty folder and uses the command there: check.sh ARCHIVE.
set -eu

archive=$(realpath "$1")
try=$(realpath "$(dirname "$0")")/try.sh
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
tar -xzf "$archive"
"$try" "$(echo "$place"/*/assay)"
echo "$archive: works alone" >&2
