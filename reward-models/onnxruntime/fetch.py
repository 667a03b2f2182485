"""Puts the library of ONNX Runtime into a folder: `fetch.py TARGET`, with TARGET/onnxruntime for it.

pip downloads the pinned wheel and checks its SHA-256; only the library and its licence are kept.
Nothing is done when the library is there already.
"""

import hashlib
import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"
PLATFORMS = {
    ("Linux", "x86_64"): "manylinux_2_28_x86_64",
    ("Linux", "aarch64"): "manylinux_2_28_aarch64",
    ("Darwin", "arm64"): "macosx_14_0_arm64",
}
KEPT = ("onnxruntime/LICENSE", "onnxruntime/ThirdPartyNotices.txt")


def main(target: Path) -> None:
    """Fetches the library where the stamp of an earlier fetch does not fit."""
    stamp = target / "stamp"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    system = PLATFORMS.get((platform.system(), platform.machine()))
    if system is None:
        print("onnxruntime: no wheel is pinned for this machine; models run on rten", file=sys.stderr)
        return
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        # The library is the same in the wheels of every Python; this one is pinned.
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
             "--no-deps", "--only-binary", ":all:", "--require-hashes", "--python-version", "3.11",
             "--implementation", "cp", "--platform", system, "--dest", work,
             "--requirement", str(REQUIREMENTS)],
            check=True)
        for wheel in Path(work).glob("*.whl"):
            unpack(wheel, target)
    stamp.write_text(wanted)
    print(f"{target}: {REQUIREMENTS.read_text().splitlines()[1].split()[0]}", file=sys.stderr)


def unpack(wheel: Path, target: Path) -> None:
    """Takes the library and its licence out of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("onnxruntime/capi/libonnxruntime.") or name in KEPT:
                (target / Path(name).name).write_bytes(archive.read(name))


if __name__ == "__main__":
    main(Path(sys.argv[1]) / "onnxruntime")
