"""What the workers of a cluster make their engines of."""

from __future__ import annotations

import functools
import uuid
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from assay import _core
from assay._engine import Spec, remade, spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay._engine import Config, Engine, State
    from assay._verifier import Verifier

BadRows = Literal["stop", "fault"]


class Job(NamedTuple):
    """How the rows of a dataset are scored: small and plain, because it travels to every worker."""

    spec: Spec
    verifiers: tuple[Verifier, ...]
    names: list[str]
    keep: list[str]
    step: int
    state: State
    bad_rows: BadRows
    token: str

    def score(self, table: Any) -> Any:
        """The verdicts of a table, on the engine of this process."""
        engine = engine_of(self)
        if engine.needs_groups:
            raise _core.ConfigError(
                "rewards that compare the samples of a group need the group in one piece, and the "
                "workers of a cluster get rows in any pieces: score such a dataset by `assay score` "
                "or `Engine.score_arrow`"
            )
        return engine.score_arrow(
            table, keep=self.keep, step=self.step, state=self.state, bad_rows=self.bad_rows
        )


def job(
    config: Config,
    keep: Sequence[str],
    step: int,
    state: State,
    bad_rows: BadRows,
    options: Mapping[str, Any],
) -> Job:
    """The job of a configuration, which is read and checked here."""
    if isinstance(keep, str):
        raise TypeError(f"keep: expected a list of names of columns, found the text {keep!r}")
    if bad_rows not in ("stop", "fault"):
        raise ValueError(f'bad_rows: expected "stop" or "fault", found {bad_rows!r}')
    verifiers = tuple(options.get("verifiers", ()))
    spec = spec_of(config, **{name: value for name, value in options.items() if name != "verifiers"})
    names = _core.reward_names(spec)
    return Job(spec, verifiers, names, list(keep), step, state, bad_rows, uuid.uuid4().hex)


def engine_of(job: Job) -> Engine:
    """The engine of this process for a job, made once."""
    return _engine(_Key(job))


class _Key:
    """A job by its token: what it holds has no hash."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.job.token == other.job.token

    def __hash__(self) -> int:
        return hash(self.job.token)


@functools.lru_cache(maxsize=2)
def _engine(key: _Key) -> Engine:
    return remade(key.job.spec, key.job.verifiers)
