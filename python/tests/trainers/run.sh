#!/bin/sh
# The adapters under the trainers' own code, each set of trainers in an environment of its own under
# target/trainers. `run.sh NAME...` runs the sets of those names alone: requirements-NAME.txt holds a set.
#
# The first lines of such a file say which tests are run (`# tests:`), which packages are installed
# without their dependencies (`# alone:`), and what is set in the environment (`# env:`). The wheel of
# `wheel.sh dev` is tested, else the package as it lies in the checkout, with the extension that was built
# there.
set -eu

cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$root/target/trainers

if [ $# -eq 0 ]; then
    set -- $(for file in requirements-*.txt; do name=${file#requirements-}; echo "${name%.txt}"; done)
fi

listed() { # KEY NAME: what a line `# KEY: ...` lists
    sed -n "s/^# $1: *//p" "requirements-$2.txt"
}

for name in "$@"; do
    env=$work/$name
    stamp=$(sha256sum < "requirements-$name.txt")
    if [ "$(cat "$env/ready" 2>/dev/null)" != "$stamp" ]; then
        echo "installing $name"
        rm -rf "$env"
        "${PYTHON:-python3}" -m venv "$env"
        pip="$env/bin/python -m pip install --quiet --disable-pip-version-check"
        $pip --requirement "requirements-$name.txt"
        alone=$(listed alone "$name")
        [ -z "$alone" ] || $pip --no-deps $alone
        echo "$stamp" > "$env/ready"
    fi
    if ls "$root"/target/wheel/dev/*.whl > /dev/null 2>&1; then
        "$env/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
            "$root"/target/wheel/dev/*.whl
        package=
    else
        package=$root/python
    fi
    echo "$name: $(listed tests "$name")"
    # Nothing is fetched while tests run.
    env HF_HUB_OFFLINE=1 $(listed env "$name") PYTHONPATH=$package "$env/bin/python" -m pytest --quiet -W ignore \
        $(listed tests "$name")
done
