#!/bin/sh
# Builds the JavaScript guest: build.sh TARGET_DIR writes TARGET_DIR/assets/javascript.wasm.
#
# QuickJS is compiled from the C source in the crate that source/Cargo.lock pins, by the C compiler
# that requirements.txt pins. The packages that package-lock.json pins stand for node's library;
# esbuild joins them and the prelude to one script. wizer runs that script once and keeps the memory
# as it is then, so that programs start with everything in place. Nothing is done where nothing has
# changed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/assets" "$1/guest-javascript"
target=$(cd "$1" && pwd)
work=$target/guest-javascript
guest=$target/assets/javascript.wasm

# Everything that the result depends on.
inputs=$(cd "$here" && cat build.sh patch.py requirements.txt source/Cargo.lock package.json \
    package-lock.json ./*.c prelude/*.js | sha256sum)
if [ -f "$guest" ] && [ "$(cat "$work/built" 2>/dev/null)" = "$inputs $(sha256sum < "$guest")" ]; then
    exit 0
fi

if [ "$(cat "$work/venv/ready" 2>/dev/null)" != "$(sha256sum < "$here/requirements.txt")" ]; then
    rm -rf "$work/venv"
    python3 -m venv --without-pip "$work/venv"
    python3 -m pip --python "$work/venv" install --quiet --no-compile --disable-pip-version-check \
        --only-binary :all: --require-hashes --requirement "$here/requirements.txt"
    sha256sum < "$here/requirements.txt" > "$work/venv/ready"
fi

manifest=$here/source/Cargo.toml
cargo fetch --quiet --locked --manifest-path "$manifest"
quickjs=$(cargo metadata --locked --offline --format-version 1 --manifest-path "$manifest" |
    "$work/venv/bin/python" -c '
import json, os, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == "rquickjs-sys":
        print(os.path.join(os.path.dirname(package["manifest_path"]), "quickjs"))')

# Copies with short names, so that no path of this machine gets into the guest.
rm -rf "$work/src"
mkdir -p "$work/src"
cp -r "$quickjs"/*.c "$quickjs"/*.h "$here"/*.c "$here"/package*.json "$here/prelude" "$work/src"
"$work/venv/bin/python" "$here/patch.py" "$quickjs/quickjs.c" "$work/src/quickjs.c"
cd "$work/src"

echo "building the JavaScript guest; this takes a minute or two" >&2
npm ci --ignore-scripts --include=dev --no-audit --no-fund --loglevel=error > npm.log

# `inspect` looks into values, and measures texts, by means of the host.
inspect=node_modules/node-inspect-extracted/dist/inspect.js
sed -i -e 's/return t\[n\](i,i\.exports,r),i\.exports/return t[n](i,i.exports,r),host.part(i.exports),i.exports/' \
    -e 's/ir=function(t){/&return host.width(t);/' $inspect
grep -q 'host\.part' $inspect
grep -q 'host\.width' $inspect
# The packages that others ask for under these names are ours.
echo "module.exports = require('../../prelude/inspect.js');" > node_modules/util/util.js
echo "module.exports = require('../../prelude/process.js');" > node_modules/process/browser.js

{
    echo '(function (host) {'
    node_modules/.bin/esbuild prelude/main.js --bundle --platform=browser --format=iife \
        --global-name=prelude --target=es2022 --log-level=warning --define:global=globalThis \
        --alias:abort-controller=abort-controller/dist/abort-controller \
        --alias:@jridgewell/gen-mapping=./prelude/none.js --alias:ts-interface-checker=./prelude/none.js \
        --minify-whitespace --minify-syntax --keep-names
    echo 'return prelude; })'
} > prelude.js

ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache \
    "$work/venv/bin/python" -m ziglang cc -target wasm32-wasi -O2 -s -Wl,-z,stack-size=8388608 \
    -DNDEBUG -D_GNU_SOURCE -fno-strict-aliasing -w -I. \
    guest.c libregexp.c libunicode.c dtoa.c -o guest.wasm
node_modules/.bin/wizer --allow-wasi --inherit-env=false -o javascript.wasm guest.wasm < prelude.js

if [ "$(sha256sum < javascript.wasm)" != "$(cat "$here/javascript.wasm.sha256" 2>/dev/null)" ]; then
    echo "the JavaScript guest differs from the one that javascript.wasm.sha256 names" >&2
fi
mv javascript.wasm "$guest"
rm -rf "$work/src"
echo "$inputs $(sha256sum < "$guest")" > "$work/built"
