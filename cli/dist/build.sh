#!/bin/sh
# Builds the archive: build.sh [TRIPLE] writes target/dist-archive/assay-VERSION-TRIPLE.tar.gz with the command, its
# guests compiled ahead, licences, completions and manual pages; then it runs the command out of the archive,
# in an empty folder with an empty environment. Linked by zig against glibc 2.28, as the wheel.
set -eu

cd "$(dirname "$0")/../.."
triple=${1:-$(rustc -vV | sed -n 's/^host: //p')}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=assay-$version-$triple
work=target/dist-archive
# The bytes that the command may have.
bytes_max=70000000

unset RUSTFLAGS
PATH=$PWD/$(python/wheel-tools.sh maturin ziglang):$PATH
maturin build --profile dist --locked --zig --target "$triple" --compatibility manylinux_2_28 \
    --manifest-path cli/Cargo.toml --bindings bin --out $work/wheel
rm -rf "${work:?}/$name"
mkdir -p "$work/$name/assets" "$work/$name/completions" "$work/$name/man"
command=$work/$name/assay
cp "${CARGO_TARGET_DIR:-target}/$triple/dist/assay" "$command"
bytes=$(wc -c < "$command")
[ "$bytes" -le $bytes_max ] || { echo "$command: $bytes bytes, more than $bytes_max" >&2; exit 1; }

for guest in python javascript; do
    cp target/assets/$guest.wasm "$work/$name/assets"
    "$command" precompile "$work/$name/assets/$guest.wasm"
done
cp target/assets/sqlglot.whl "$work/$name/assets"
for shell in bash fish zsh; do
    "$command" completions $shell > "$work/$name/completions/assay.$shell"
done
"$command" man > "$work/$name/man/assay.1"
cp LICENSE README.md "$work/$name"
python3 cli/dist/licences.py > "$work/$name/LICENCES-OF-DEPENDENCIES.txt"

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C $work -cf - "$name" | gzip -9n > "$work/$name.tar.gz"
cli/dist/check.sh "$work/$name.tar.gz"
