"""The table of `docs/trainers/README.md`: adapters, their pages, and the versions that passed.

`table.py` writes it. `table.py SET ADAPTER=PACKAGE...` first notes in `versions.toml` which packages are
installed here; an adapter without a package is tested by the protocol or the types of its trainer.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import assay.adapters

PAGES = Path(__file__).parents[3] / "docs" / "trainers"
README = PAGES / "README.md"
VERSIONS = PAGES / "versions.toml"
BEGIN, END = "<!-- begin: table.py -->\n", "<!-- end: table.py -->\n"
NOTE = (
    "# Adapters and versions of packages that passed, by set. Written by python/tests/trainers/run.sh.\n"
)
HEAD = (
    "| trainer | of `assay.adapters` | a sample that could not be judged, by default | tested with |\n"
    "|---|---|---|---|\n"
)


def adapters() -> dict[str, Any]:
    """The `TRAINER` of each public module that has one."""
    names = [module.name for module in pkgutil.iter_modules(assay.adapters.__path__)]
    modules = {
        name: importlib.import_module(f"assay.adapters.{name}") for name in names if name[0] != "_"
    }
    return {name: module.TRAINER for name, module in modules.items() if hasattr(module, "TRAINER")}


def links(adapter: str, trainer: str) -> list[str]:
    """The pages that use an adapter: that of the trainer, then others."""
    used = re.compile(rf"assay\.adapters(\.| import ){adapter}\b")
    found = []
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if page != README and used.search(text):
            title = text.partition("\n")[0].removeprefix("# ")
            found.append((title != trainer, page.name, title))
    return [f"[{title}]({name})" for _, name, title in sorted(found)]


def noted() -> dict[str, list[str]]:
    """`adapter package version` for each that passed, or `adapter` alone, by set."""
    return tomllib.loads(VERSIONS.read_text()) if VERSIONS.exists() else {}


def note(name: str, pairs: list[str]) -> None:
    """Notes the installed versions of a set's packages."""
    packages = [pair.split("=") for pair in sorted(pairs)]
    found = [f"{of} {one} {metadata.version(one)}" if one else of for of, one in packages]
    sets = sorted({**noted(), name: found}.items())
    lines = (f"{json.dumps(one)} = {json.dumps(passed)}\n" for one, passed in sets)
    VERSIONS.write_text(NOTE + "".join(lines))


def tested(adapter: str) -> str:
    """The packages of an adapter, each with its versions."""
    passed = {one for of_set in noted().values() for one in of_set if one.split()[0] == adapter}
    versions: dict[str, list[str]] = {}
    for one in sorted(
        passed - {adapter}, key=lambda one: [int(part) for part in re.findall(r"\d+", one)]
    ):
        _, package, version = one.split()
        versions.setdefault(package, []).append(version)
    if not versions:
        return "its protocol" if passed else "nothing yet"
    return "; ".join(f"{package} {', '.join(many)}" for package, many in sorted(versions.items()))


def table() -> str:
    """The rows, in the order of the trainers' names."""
    rows = []
    for adapter, trainer in sorted(adapters().items(), key=lambda pair: pair[1].name.lower()):
        cells = (", ".join(links(adapter, trainer.name)), trainer.uses, trainer.fault, tested(adapter))
        rows.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(rows)


def write() -> None:
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(before + BEGIN + table() + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        note(sys.argv[1], sys.argv[2:])
    write()
