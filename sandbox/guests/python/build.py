"""Builds the guest: `build.py TARGET`, with TARGET the folder that gets `python.wasm`.

`build.py TARGET --component` makes the component alone, which needs no Rust, so that it may run beside
the build of the joiner.

The builder runs in a virtual environment of its own, under a small library that gives it fixed
bytes in the place of random ones. Nothing is done when no input has changed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

sys.dont_write_bytecode = True

import snapshot  # noqa: E402
import stack  # noqa: E402
import stdlib  # noqa: E402

HERE = Path(__file__).resolve().parent
WIT = HERE.parent.parent / "wit"
JOINER = HERE.parent / "joiner"
INPUTS = sorted([*HERE.glob("*.py"), *HERE.glob("*.c"), HERE / "requirements.txt",
                 WIT / "python.wit", JOINER / "Cargo.toml", *JOINER.glob("src/*.rs")])
# As `make` builds the workspace, so that nothing is compiled twice.
BUILD_JOINER = ("cargo", "build", "--quiet", "--locked", "--manifest-path", HERE.parents[2] / "Cargo.toml",
                "--workspace", "--features", "assay-cli/as-tested", "--bin", "assay-guest-joiner")
# What translates queries for the verifier `sql`, as pip has it.
TRANSLATOR = HERE / "translator.txt"
TOOLS = ("build.py", "snapshot.py", "stack.py")
SOURCES = [path for path in HERE.glob("*.py") if path.name not in TOOLS]


def main(target, component_only):
    """Builds what is not up to date, and checks the digest."""
    target.mkdir(parents=True, exist_ok=True)
    fetch_translator(target)
    guest, stamp = target / "python.wasm", target / "python.inputs"
    inputs = digest_of(INPUTS)
    if not (guest.exists() and stamp.exists() and stamp.read_text() == inputs):
        component = target / "work" / "python.wasm"
        made = target / "work" / "inputs"
        if not (component.exists() and made.exists() and made.read_text() == inputs):
            build(target, component)
            made.write_text(inputs)
        if component_only:
            return
        join(component, guest)
        stamp.write_text(inputs)
    found = hashlib.sha256(guest.read_bytes()).hexdigest()
    print(f"{guest}: sha256 {found}", file=sys.stderr)


def fetch_translator(target):
    """Puts the wheel of the translator beside the guest, which mounts it."""
    wheel, pin = target / "sqlglot.whl", TRANSLATOR.read_text().rpartition("sha256:")[2].strip()
    if wheel.exists() and hashlib.sha256(wheel.read_bytes()).hexdigest() == pin:
        return
    with tempfile.TemporaryDirectory(dir=target) as work:
        run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
             "--require-hashes", "--only-binary=:all:", "--dest", work, "-r", TRANSLATOR])
        (found,) = Path(work).glob("*.whl")
        os.replace(found, wheel)


def digest_of(paths):
    """One digest over names and contents."""
    total = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        total.update(f"{path.name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def build(target, component):
    """Builds the component in a folder of its own."""
    tools = environment(target / "builder")
    work = component.parent
    shutil.rmtree(work, ignore_errors=True)
    (work / "guest").mkdir(parents=True)
    for path in sorted(SOURCES):
        shutil.copyfile(path, work / "guest" / path.name)
    for package in stdlib.PACKAGES:
        (found,) = tools.parent.glob(f"lib/python*/site-packages/{package}")
        shutil.copytree(found, work / "guest" / package, ignore=shutil.ignore_patterns("__pycache__"))
    fixed = work / "fixed.so"
    compiler = os.environ.get("CC", "cc")
    run([compiler, "-shared", "-fPIC", "-O1", "-o", fixed, HERE / "fixed.c"])
    run([tools / "componentize-py", "--quiet", "-d", WIT / "python.wit", "-w", "python", "componentize", "assay_guest",
         "-p", work / "guest", "-o", component],
        env={"PATH": os.environ.get("PATH", ""), "LD_PRELOAD": str(fixed)})
    wasm = bytearray(component.read_bytes())
    snapshot.make_immortal(wasm)
    stack.deepen(wasm)
    component.write_bytes(wasm)


def join(component, guest):
    """Joins the modules of the component, and puts the guest in its place when it is whole.

    Started from one module, an interpreter takes a third of the time that it takes from fourteen.
    """
    builds = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target"))
    joined = component.with_name("joined.wasm")
    run(BUILD_JOINER)
    run([builds / "debug" / "assay-guest-joiner", component, joined])
    os.replace(joined, guest)


def environment(folder):
    """The builder's virtual environment, with all packages held to their digests."""
    requirements = HERE / "requirements.txt"
    stamp = folder / "requirements.digest"
    wanted = digest_of([requirements])
    if not (stamp.exists() and stamp.read_text() == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        run([folder / "bin" / "python", "-m", "pip", "install", "--quiet",
             "--disable-pip-version-check", "--require-hashes", "--only-binary=:all:",
             "-r", requirements])
        stamp.write_text(wanted)
    return folder / "bin"


def run(command, env=None):
    """Runs a command and ends with its message when it fails."""
    done = subprocess.run([str(part) for part in command], env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"{Path(str(command[0])).name} failed with exit code {done.returncode}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), "--component" in sys.argv[2:])
