"""Rows of a trainer as samples of an engine, and the end of a run that nobody may catch."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

from assay._faults import TooManyFaults, Unscored
from assay.adapters._given import data_columns, is_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay._engine import Engine
    from assay.adapters._batch import Batch


def samples(
    engine: Engine,
    rows: Sequence[Mapping[str, Any]],
    *,
    completions: Sequence[Any],
    prompts: Sequence[Any] | None = None,
    references: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """What :meth:`assay.Engine.score` takes by keyword: every key of the rows is a column."""
    columns = {key: [row.get(key) for row in rows] for row in rows for key in row}
    return of_columns(engine, columns, completions=completions, prompts=prompts, references=references)


def of_columns(
    engine: Engine,
    columns: Mapping[str, Sequence[Any]],
    *,
    completions: Sequence[Any],
    prompts: Sequence[Any] | None = None,
    references: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """What :meth:`assay.Engine.score` takes by keyword: every column, but of images and other objects.

    The completion and the prompt are those of the trainer, whatever the columns say. The reference is
    the column that the configuration names, where there is one, else ``references``.
    """
    names = engine._columns
    given = ("completion",) if prompts is None else ("completion", "prompt")
    columns = data_columns(columns, [names[role] for role in given])
    lists: dict[str, Any] = {"completions": completions, "columns": columns}
    if prompts is not None:
        lists["prompts"] = prompts
    name = names["reference"]
    if references is not None and name not in columns and name.partition(".")[0] not in columns:
        lists["references"] = references
    return lists


def sample(
    engine: Engine,
    row: Mapping[str, Any],
    *,
    completion: Any,
    prompt: Any = None,
    reference: Any = None,
) -> dict[str, Any]:
    """The same of one row: what :meth:`assay.Engine.score` takes as a sample."""
    names = engine._columns
    made = {name: value for name, value in row.items() if is_data(value)}
    made[names["completion"]] = completion
    if prompt is not None:
        made[names["prompt"]] = prompt
    name = names["reference"]
    if reference is not None and name not in made and name.partition(".")[0] not in made:
        made[name] = reference
    return made


def completion_of(turns: list[dict[str, str]]) -> str | list[dict[str, str]]:
    """What is judged of a conversation: the text of its only turn, else all turns."""
    return turns if len(turns) > 1 else turns[0]["content"]


def only_reward(batch: Batch, then: str) -> float:
    """The reward of a batch of one sample.

    Raises:
        Unscored: It has none; ``then`` says what the trainer makes of that.
    """
    [reward] = batch.rewards
    if reward is None:
        raise Unscored(f"sample {batch.scored[0].id}: {batch.outcomes()[0]}; {then}")
    return reward


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Turns too many faults into ``SystemExit``, for trainers that catch every exception and go on."""
    try:
        yield
    except TooManyFaults as error:
        logging.getLogger("assay").critical("%s", error)
        raise SystemExit(f"assay: {error}") from error
