"""Recipes: rewards of the literature as functions of columns."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from assay import _core


class Recipe:
    """A reward of the literature: where it comes from, its settings, and its formula.

    Called with the names that the formula reads, it gives what the formula gives of them: a list over
    rows, a list of lists over steps, or a number. ``inputs`` takes names that are no identifiers of
    Python, such as ``"steps.reward"``. ``groups`` are the numbers of rows of each group, where there is
    more than one. Errors are ``ConfigError``.

    >>> assay.recipe("opo")(r=[1.0, 0.0], length=[3, 1])
    [0.25, -0.75]
    """

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self._name = name
        self._file = _core.recipe_file(name)
        #: The settings that differ from those of the paper.
        self.settings = settings

    @property
    def id(self) -> str:
        """The word by which a configuration names it."""
        return str(self._file["id"])

    @property
    def title(self) -> str:
        """A few words."""
        return str(self._file["title"])

    @property
    def papers(self) -> list[str]:
        """The titles of the papers."""
        return list(self._file["papers"])

    @property
    def formula(self) -> str | None:
        """The formula, where it is one: see ``docs/formulas.md``."""
        return self._file.get("formula")

    @property
    def file(self) -> dict[str, Any]:
        """All that the file of the recipe says."""
        return self._file

    def __call__(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        groups: Sequence[int] = (),
        **named: Any,
    ) -> Any:
        """What the formula gives of these inputs: by output, where it gives several."""
        given = {name: _plain(column) for name, column in {**(inputs or {}), **named}.items()}
        found = _core.recipe_values(self._name, self.settings, given, list(groups))
        return next(iter(found.values())) if len(found) == 1 else found

    def __repr__(self) -> str:
        return f"assay.recipe({self.id!r})"


def recipe(name: str | PathLike[str], **settings: Any) -> Recipe:
    """The recipe of an id, of a number such as ``"2.4"``, or of a file, with some settings.

    >>> assay.recipe("2.4", max=100, cache=50).title
    'Soft overlong punishment'
    """
    if isinstance(name, PathLike) or name.endswith(".toml"):
        name = Path(name).read_text(encoding="utf-8")
    return Recipe(name, settings)


def recipes() -> list[str]:
    """The ids of the recipes that come with assay."""
    return _core.recipe_ids()


def _plain(column: Any) -> Any:
    """Arrays and tensors as lists."""
    return column.tolist() if hasattr(column, "tolist") else column
