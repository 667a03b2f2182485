"""No two modules of the package import each other, nor do two of its rooms, by way of others or not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "assay"
"""The sources of the package."""

Edges = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Every module by its name; a package has the name of its folder."""
    found = {}
    # The extension has its stub alone.
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports of a module, those in functions too, but for those that type checkers alone see."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            for other in child.orelse:
                yield from statements(ast.Module([other], []))
        elif isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        else:
            yield from statements(child)


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that one imports."""
    found = set()
    for statement in statements(ast.parse(path.read_text())):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
            continue
        base = statement.module or ""
        if statement.level:
            package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
            above = package[: len(package) - statement.level + 1]
            base = ".".join([*above, base] if base else above)
        for alias in statement.names:
            whole = f"{base}.{alias.name}"
            found.add(whole if whole in known else base)
    return {other for other in found if other in known and other != name}


def circles(edges: Edges) -> list[list[str]]:
    """Names that reach each other."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = edges.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return seen

    reached = {name: reach(name) for name in edges}
    groups = {frozenset(other for other in reached[name] if name in reached[other]) for name in edges}
    return sorted(sorted(group) for group in groups if group)


def between(edges: Edges, part: Callable[[str], str]) -> Edges:
    """The edges between parts."""
    found: Edges = {}
    for name, others in edges.items():
        found.setdefault(part(name), set()).update(part(other) for other in others)
    return {name: others - {name} for name, others in found.items()}


def test_circles_are_found() -> None:
    edges = {"a.b": {"c.d"}, "c.e": {"a.f"}, "c.d": set[str](), "a.f": set[str]()}
    assert circles(edges) == []
    assert circles(between(edges, lambda name: name.split(".")[0])) == [["a", "c"]]


def room_at(depth: int) -> Callable[[str], str]:
    """The room of a module that lies so many names deep."""
    return lambda name: ".".join(name.split(".")[:depth])


def test_nothing_imports_itself() -> None:
    known = modules()
    edges = {name: imported(name, path, known) for name, path in known.items()}
    assert len(edges) > 40
    assert edges["assay._workers"] == {"assay._core", "assay._engine"}
    assert circles(edges) == []
    for package in (name for name, path in known.items() if path.name == "__init__.py"):
        depth = package.count(".") + 2
        inside = {name: others for name, others in edges.items() if f"{name}.".startswith(f"{package}.")}
        rooms = between(
            {name: {other for other in others if other in inside} for name, others in inside.items()},
            room_at(depth),
        )
        assert circles(rooms) == [], package
