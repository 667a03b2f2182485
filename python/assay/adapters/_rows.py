"""Rows of a trainer as samples of an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.adapters._given import data_columns

if TYPE_CHECKING:
    from assay._engine import Engine

Rows: TypeAlias = Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
"""A mapping for each sample, or one of columns."""


def lists_of(
    engine: Engine,
    rows: Rows,
    *,
    completions: Sequence[Any],
    prompts: Sequence[Any] | None = None,
    references: Sequence[Any] | None = None,
    token_ids: Sequence[Any] | None = None,
    taken: Sequence[str] = (),
) -> dict[str, Any]:
    """What :meth:`assay.Engine.score` takes by keyword: every column, but of images and other objects.

    The completion and the prompt are those of the trainer, whatever the rows say, and so are the token
    ids where the configuration names a column for them. The reference is the column that the
    configuration names, where there is one, else ``references``. What is ``taken`` of the rows is not
    a column.
    """
    names = engine._columns
    given = ("completion",) if prompts is None else ("completion", "prompt")
    columns = data_columns(_columns(rows), [*taken, *(names[role] for role in given)])
    lists: dict[str, Any] = {"completions": completions, "columns": columns}
    if prompts is not None:
        lists["prompts"] = prompts
    name = names["reference"]
    if references is not None and name not in columns and name.partition(".")[0] not in columns:
        lists["references"] = references
    if token_ids is not None and "token_ids" in names:
        columns[names["token_ids"]] = token_ids
    return lists


def _columns(rows: Rows) -> Mapping[str, Sequence[Any]]:
    if isinstance(rows, Mapping):
        return rows
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
