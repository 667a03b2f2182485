#!/bin/sh
# Builds the wheel: the extension, which is the command too, and the guests of the sandbox.
#
#   wheel.sh dev              into target/wheel/dev, of what the tests are built of
#   wheel.sh release [TRIPLE] into target/wheels, in the profile `dist`, for glibc 2.28 and later
#
# maturin packs what lies in target/wheel/data beside the package. A build for release links with zig,
# which knows the symbols of older C libraries, and maturin fails where a newer one is asked for.
set -eu

cd "$(dirname "$0")/.."
kind=$1
triple=${2:-$(rustc -vV | sed -n 's/^host: //p')}
# The bytes that a wheel may have.
bytes_max=80000000
# The bytes that the guests may have, packed fast; `zstd` makes two thirds of that.
guest_bytes_max=50000000

work=target/wheel
data=$work/data
share=$data/data/share/assay
mkdir -p $work

# The guests as they were built, which the tests have compiled ahead. They are the part of the wheel for
# people that this one has in the same size.
plain_guests() {
    packed=$(cat target/assets/python.wasm target/assets/javascript.wasm target/assets/*.cwasm | gzip -1 | wc -c)
    [ "$packed" -le $guest_bytes_max ] || { echo "the guests have $packed bytes packed" >&2; exit 1; }
    rm -rf $data
    mkdir -p $share
    cp target/assets/python.* target/assets/javascript.* target/assets/sqlglot.whl $share
    rm -f $share/*.inputs
}

# The guests and their compiled forms, compressed: the first use unpacks them into the cache. They are
# compiled by the command in the wheels of folder $1, where it runs on this machine; elsewhere the first use
# compiles them.
packed_guests() {
    rm -rf $data $work/command
    mkdir -p $share
    if [ "${triple%%-*}" = "$(uname -m)" ]; then
        python3 -m venv $work/command
        $work/command/bin/pip install --quiet --disable-pip-version-check --no-deps "$1"/*.whl
        $work/command/bin/assay precompile --pack $share target/assets/python.wasm target/assets/javascript.wasm
        cp target/assets/sqlglot.whl $share
    else
        plain_guests
        rm -f $share/*.cwasm $share/*.sha256
    fi
}

case $kind in
dev)
    PATH=$PWD/$(python/wheel-tools.sh maturin):$PATH
    plain_guests
    rm -rf $work/dev
    maturin build --quiet --locked --manifest-path python/Cargo.toml --features as-tested \
        --compatibility linux --compression-method stored --out $work/dev
    ;;
release)
    PATH=$PWD/$(python/wheel-tools.sh maturin ziglang):$PATH
    # For any processor of the architecture.
    unset RUSTFLAGS
    set -- --profile dist --locked --zig --target "$triple" --compatibility manylinux_2_28 \
        --manifest-path python/Cargo.toml
    rm -rf $data $work/bare target/wheels
    mkdir -p $data
    maturin build "$@" --out $work/bare
    packed_guests $work/bare
    maturin build "$@" --compression-level 9 --out target/wheels
    for wheel in target/wheels/*.whl; do
        bytes=$(wc -c < "$wheel")
        echo "$wheel: $bytes bytes" >&2
        [ "$bytes" -le $bytes_max ] || { echo "more than $bytes_max" >&2; exit 1; }
    done
    python/check-wheel.sh target/wheels/*.whl
    ;;
*)
    echo "usage: wheel.sh dev|release [TRIPLE]" >&2
    exit 2
    ;;
esac
