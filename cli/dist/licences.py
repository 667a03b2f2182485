"""Prints the licences of every crate that the command is built of, with their texts."""

import json
import subprocess
from pathlib import Path

TREE = ["cargo", "tree", "--locked", "--package", "assay-cli", "--edges", "normal", "--prefix", "none", "--format", "{p}"]
METADATA = ["cargo", "metadata", "--locked", "--format-version", "1"]
NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "UNLICENSE*")


def main() -> None:
    """Prints one section a crate."""
    lines = subprocess.run(TREE, check=True, capture_output=True, text=True).stdout.splitlines()
    built = {tuple(line.split()[:2]) for line in lines if line}
    packages = json.loads(subprocess.run(METADATA, check=True, capture_output=True).stdout)["packages"]
    for package in sorted(packages, key=lambda package: (package["name"], package["version"])):
        if package["source"] is None or (package["name"], "v" + package["version"]) not in built:
            continue
        print(f"{'=' * 80}\n{package['name']} {package['version']}: {package['license']}\n{package['repository']}\n")
        folder = Path(package["manifest_path"]).parent
        for text in sorted({path for name in NAMES for path in folder.glob(name) if path.is_file()}):
            print(text.read_text(errors="replace").strip(), end="\n\n")


if __name__ == "__main__":
    main()
