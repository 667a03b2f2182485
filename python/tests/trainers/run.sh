#!/bin/sh
# The adapters under the trainers' own code, each set of trainers in an environment of its own under
# target/trainers. `run.sh NAME...` runs the sets of those names alone: requirements-NAME.txt holds a set.
#
# The first lines of such a file say which tests are run (`# tests:`), which packages are installed
# without their dependencies (`# alone:`), over which other set's environment this one is laid (`# over:`),
# what is set in the environment (`# env:`), and which packages the table of docs/trainers names when the
# tests have passed (`# versions: ADAPTER=PACKAGE`). The wheel of `wheel.sh dev` is tested, else the package as
# it lies in the checkout, with the extension that was built there.
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

install() ( # NAME: its environment, where it is not there yet
    env=$work/$1
    over=$(listed over "$1")
    [ -z "$over" ] || install "$over"
    stamp=$(cat "requirements-$1.txt" ${over:+"requirements-$over.txt"} | sha256sum)
    [ "$(cat "$env/ready" 2>/dev/null)" != "$stamp" ] || return 0
    echo "installing $1"
    rm -rf "$env"
    "${PYTHON:-python3}" -m venv "$env"
    [ -z "$over" ] || packages "$over" > "$(packages "$1")/over.pth"
    pip="$env/bin/python -m pip install --quiet --disable-pip-version-check --no-warn-conflicts"
    $pip --requirement "requirements-$1.txt"
    alone=$(listed alone "$1")
    [ -z "$alone" ] || $pip --no-deps $alone
    echo "$stamp" > "$env/ready"
)

packages() { # NAME: where the packages of its environment are
    "$work/$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
}

for name in "$@"; do
    env=$work/$name
    install "$name"
    if ls "$root"/target/wheel/dev/*.whl > /dev/null 2>&1; then
        "$env/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
            "$root"/target/wheel/dev/*.whl
        package=
    else
        package=$root/python
    fi
    # Sets that are complete agree with each other and with the wheel.
    [ -n "$(listed alone "$name")$(listed over "$name")" ] || "$env/bin/python" -m pip check
    echo "$name: $(listed tests "$name")"
    # Nothing is fetched while tests run.
    env HF_HUB_OFFLINE=1 $(listed env "$name") PYTHONPATH=$package "$env/bin/python" -m pytest --quiet -W ignore \
        $(listed tests "$name")
    versions=$(listed versions "$name")
    [ -z "$versions" ] || PYTHONPATH=$package "$env/bin/python" table.py "$name" $versions
done
