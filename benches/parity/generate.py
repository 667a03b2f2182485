"""Writes the parity vectors: the cases, and what a library gives on them.

    python benches/parity/generate.py cases
    python benches/parity/generate.py verl|trl|openrlhf

A library's own functions are called, in double precision, on the processor. Each library has an
environment of its own, made from `requirements-LIBRARY.txt`; `cases` needs none. See README.md.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
from pathlib import Path

from cases import cases

LIBRARIES = {"trl": "1.16.0", "verl": "0.9.1", "openrlhf": "0.11.2"}
FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "parity"


def main() -> None:
    """Writes one of the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["cases", *LIBRARIES])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    if arguments.what == "cases":
        write_cases(arguments.folder)
    else:
        write_library(arguments.what, arguments.folder)


def write_cases(folder: Path) -> None:
    """Writes the cases, which every library is given."""
    from files import write

    write(folder / "cases.json.gz", cases())


def write_library(library: str, folder: Path) -> None:
    """Writes what one library gives on every case."""
    import torch
    from files import write

    version = importlib.metadata.version(library)
    if version != LIBRARIES[library]:
        raise SystemExit(f"{library} {version} is installed, not {LIBRARIES[library]}")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    given = json.loads(json.dumps(cases()))
    records = importlib.import_module(f"{library}_records").records(given)
    names = [record["name"] for record in records]
    if len(names) != len(set(names)):
        raise SystemExit("two records have one name")
    value = {"library": library, "version": version, "dtype": "float64", "records": records}
    write(folder / f"{library}.json.gz", value)


if __name__ == "__main__":
    main()
