#!/bin/sh
# Builds the wheel: extension, command and guests of the sandbox in one.
#
#   wheel.sh dev              into target/wheel/dev, of what the tests are built of
#   wheel.sh release [TRIPLE] into target/wheels, for glibc 2.28 and later
#
# maturin packs what lies in target/wheel/data beside the package. A build for release links with zig,
# which knows the symbols of older C libraries, and maturin fails where a newer one is asked for. Both
# programs have the same features and the same environment: what they share is compiled once.
set -eu

cd "$(dirname "$0")/.."
kind=$1
triple=${2:-$(rustc -vV | sed -n 's/^host: //p')}
# The bytes that a wheel may have.
bytes_max=80000000

work=target/wheel
data=$work/data
build=${CARGO_TARGET_DIR:-target}
mkdir -p $work

if [ "$(cat $work/tools/ready 2>/dev/null)" != "$(sha256sum < python/wheel-requirements.txt)" ]; then
    rm -rf $work/tools
    python3 -m venv $work/tools
    $work/tools/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
        --requirement python/wheel-requirements.txt
    sha256sum < python/wheel-requirements.txt > $work/tools/ready
fi
PATH=$PWD/$work/tools/bin:$PATH

# Puts the command $1 and the guests where maturin finds them. The guests are compiled by the command,
# where it runs on this machine; elsewhere the first run compiles them.
stage() {
    share=$data/data/share/assay
    rm -rf $data
    mkdir -p $data/scripts $share
    cp "$1" $data/scripts/assay
    for guest in python javascript; do
        cp target/assets/$guest.wasm $share
        if [ "${triple%%-*}" = "$(uname -m)" ]; then
            cp target/assets/$guest.v*.cwasm target/assets/$guest.v*.sha256 $share 2> /dev/null || true
            "$1" precompile $share/$guest.wasm
        fi
    done
}

case $kind in
dev)
    cargo build --locked --package assay --package assay-python --features assay-python/as-tested --bin assay
    stage "$build/debug/assay"
    rm -rf $work/dev
    maturin build --quiet --locked --manifest-path python/Cargo.toml --features as-tested \
        --compatibility linux --compression-method stored --out $work/dev
    ;;
release)
    # Binaries for people: without names of functions, for any processor of the architecture.
    export CARGO_PROFILE_RELEASE_STRIP=symbols
    unset RUSTFLAGS
    set -- --release --locked --zig --target "$triple" --compatibility manylinux_2_28
    maturin build "$@" --manifest-path Cargo.toml --bindings bin --out $work/command
    stage "$build/$triple/release/assay"
    rm -rf target/wheels
    maturin build "$@" --manifest-path python/Cargo.toml --compression-level 9 --out target/wheels
    for wheel in target/wheels/*.whl; do
        bytes=$(wc -c < "$wheel")
        echo "$wheel: $bytes bytes" >&2
        [ "$bytes" -le $bytes_max ] || { echo "more than $bytes_max" >&2; exit 1; }
    done
    ;;
*)
    echo "usage: wheel.sh dev|release [TRIPLE]" >&2
    exit 2
    ;;
esac
