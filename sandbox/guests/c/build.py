"""Builds the toolchain of C and C++: `build.py TARGET` writes `TARGET/assets/c`.

Compiler and libraries come from the zig wheel that ../javascript/requirements.txt pins. What is
kept is what compiling needs: the program, the headers, the libraries built for wasm32-wasi, our
own headers, and the standard library of C++ compiled ahead. Nothing is done where nothing has
changed.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE.parent / "javascript" / "requirements.txt"
INPUTS = [REQUIREMENTS, *sorted(path for path in HERE.rglob("*") if path.is_file())]
LIBRARIES = ["crt1-command.o", "libc.a", "libzigc.a", "libc++.a", "libc++abi.a",
             "libcompiler_rt.a"]
# Where headers lie in the wheel, and what the flags call them.
HEADERS = {"include": "clang", "libcxx/include": "c++", "libcxxabi/include": "c++abi",
           "libc/include/wasm-wasi-musl": "wasi", "libc/include/generic-musl": "musl"}
HEADER = "/c/assay/bits/stdc++.h"


def main(target):
    """Builds what is not up to date."""
    toolchain, stamp = target / "assets" / "c", target / "guest-c" / "built"
    inputs = digest_of(INPUTS)
    manifest = toolchain / "manifest"
    if manifest.exists() and stamp.exists():
        if stamp.read_text() == f"{inputs} {digest_of([manifest])}":
            return
    print("building the toolchain of C and C++; this takes two minutes", file=sys.stderr)
    work = target / "guest-c"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    new = work / "c"
    build(new, wheel(work / "venv"), work)
    shutil.rmtree(toolchain, ignore_errors=True)
    toolchain.parent.mkdir(parents=True, exist_ok=True)
    os.replace(new, toolchain)
    for folder in ["venv", "cache"]:
        shutil.rmtree(work / folder)
    stamp.write_text(f"{inputs} {digest_of([manifest])}")


def digest_of(paths):
    """One digest over names and contents."""
    total = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        total.update(f"{path.name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def wheel(folder):
    """Installs the wheel, checked by its digest, and returns where zig lies."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--only-binary", ":all:", "--require-hashes", "--requirement", REQUIREMENTS])
    (zig,) = folder.glob("lib/python*/site-packages/ziglang")
    return zig


def build(new, zig, work):
    """Lays out the toolchain in the folder `new`."""
    for name in ["lib", "include"]:
        (new / name).mkdir(parents=True)
    built = libraries(zig, work)
    for name in LIBRARIES:
        shutil.copyfile(built[name], new / "lib" / name)
    for origin, name in HEADERS.items():
        shutil.copytree(zig / "lib" / origin, new / "include" / name)
    shutil.copytree(HERE / "include", new / "include" / "assay")
    shutil.copytree(HERE / "flags", new / "flags")
    shutil.copyfile(HERE / "files.yaml", new / "files.yaml")
    shutil.copy(zig / "zig", new / "zig")
    for language, source in [("c", "support.c"), ("cpp", "support.cpp")]:
        output = new / "lib" / f"support-{language}.o"
        compile_(new, language, ["-emit-obj", "-o", output, "-"], (HERE / source).read_text())
    ahead = ["-emit-pch", "-fpch-instantiate-templates", "-fno-pch-timestamp"]
    header = ["-x", "c++-header", "-o", new / "include" / "stdc++.pch", HEADER]
    compile_(new, "cpp", ahead + header, "")
    write_manifest(new)


def libraries(zig, work):
    """Lets zig build a program of C++, and notes which libraries it linked."""
    source = work / "program.cpp"
    source.write_text("int main() { return 0; }\n")
    cache = str(work / "cache")
    linked = subprocess.run(
        [zig / "zig", "c++", "--target=wasm32-wasi", "-O2", "-v", source, "-o",
         work / "program.wasm"],
        env={"PATH": os.environ.get("PATH", ""), "ZIG_GLOBAL_CACHE_DIR": cache,
             "ZIG_LOCAL_CACHE_DIR": cache},
        cwd=work, capture_output=True, text=True, check=False)
    if linked.returncode != 0:
        sys.exit(linked.stderr)
    paths = {Path(word).name: work / word for word in linked.stderr.split() if "/" in word}
    return {name: paths[name] for name in LIBRARIES}


def compile_(toolchain, language, arguments, source):
    """Compiles with the flags that programs are compiled with."""
    flags = [flag for name in ["compile", f"compile-{language}"]
             for flag in (toolchain / "flags" / name).read_text().splitlines()]
    run([toolchain / "zig", *flags, *arguments], cwd=toolchain, input=source, text=True, env={})


def write_manifest(folder):
    """Names every file with its digest: what the toolchain is."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n"
             for path in paths]
    (folder / "manifest").write_text("".join(lines))


def run(command, **options):
    """Runs a command that must succeed."""
    subprocess.run([str(word) for word in command], check=True, **options)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
