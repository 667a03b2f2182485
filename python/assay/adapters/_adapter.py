"""What the adapters of all trainers share."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay._core import ConfigError, reward_names, rewards_and_faults
from assay._engine import Engine, options_of, spec_of
from assay._faults import FaultWindow
from assay.adapters._batch import Batch, names_of
from assay.adapters._given import Config, config_of, config_of_environment, plain
from assay.adapters._record import record
from assay.adapters._trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import TypeAlias

    from assay._core import Scored
    from assay.adapters._trainer import OnFault as OnFault

    Rows: TypeAlias = Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
    Column: TypeAlias = Sequence[Any]
    Given: TypeAlias = tuple[Rows, Column, Column | None, Column | None, Column | None, Sequence[str]]

__all__ = [
    "Adapter",
    "Batch",
    "Config",
    "Trainer",
    "config_of_environment",
    "of_environment",
    "plain",
    "shared",
]

MAX_FAULT_RATE = 0.1


class Adapter:
    """A configuration, and its engine where and when it is used.

    It pickles by its configuration. Any thread, event loop and forked process may use it; the first
    use builds the engine.

    Args:
        config: A path, the text of a configuration, a mapping, or an :class:`assay.Engine`; by default
            the path in ``ASSAY_CONFIG``.
        trainer: What the trainer can do.
        on_fault: What becomes of a sample without a reward, by default what fits the trainer.
            What the configuration says comes first: with ``combine.on_fault = "floor"`` a fault has
            a reward.
        max_fault_rate: The most faults among the last 1000 samples of a process; more are
            :class:`assay.TooManyFaults`. 1 never stops.
        timeout: Seconds that a call may take; what is not judged by then is a fault.
        columns: Which columns of the data mean what: ``{"reference": "answer"}``, as ``[data]`` of the
            configuration.
        options: Those of :class:`assay.Engine`.
    """

    def __init__(
        self,
        config: Config | None,
        trainer: Trainer,
        *,
        on_fault: OnFault | None = None,
        max_fault_rate: float = MAX_FAULT_RATE,
        timeout: float | None = None,
        columns: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        if columns:
            named = {f"data.{role}": column for role, column in columns.items()}
            options["settings"] = {**named, **(options.get("settings") or {})}
        self.on_fault = trainer.rule(on_fault)
        self.timeout = timeout
        self._options_at_start = options_of(0, None, timeout)
        self._trainer = trainer
        self._options = options
        self._config = config_of(config, options)
        self._check()
        self._faults = FaultWindow(max_fault_rate)
        self._engine: Engine | None = None
        self._names = names_of([])
        self._unweighted: frozenset[str] = frozenset()
        self._warned = False

    @property
    def engine(self) -> Engine:
        """The engine; the first use builds it, and says what is wrong with the configuration."""
        if self._engine is None:
            with _BUILDING:
                if self._engine is None:
                    self._engine = self._build()
        return self._engine

    async def built(self) -> Engine:
        """The engine; where it is not built yet, the event loop runs meanwhile."""
        if self._engine is None:
            import asyncio

            await asyncio.to_thread(lambda: self.engine)
        return self.engine

    def score(
        self,
        samples: Sequence[Mapping[str, Any]] | None = None,
        /,
        *,
        groups_by: Sequence[object] | None = None,
        **lists: Any,
    ) -> Batch:
        """Judges samples and waits for them.

        Args:
            samples: A dict for each sample, in place of ``lists``.
            groups_by: What samples of one prompt share, where they are not all of one prompt.
            lists: Those of :meth:`assay.Engine.score`.

        Raises:
            Unscored: A sample has no reward, and the rule is ``"raise"``.
            TooManyFaults: More faults than ``max_fault_rate``.
        """
        engine = self.engine
        lists.setdefault("timeout", self.timeout)
        start = time.perf_counter()
        return self._batch(engine.score(samples, **lists), start, groups_by)

    async def score_async(
        self,
        samples: Sequence[Mapping[str, Any]] | None = None,
        /,
        *,
        groups_by: Sequence[object] | None = None,
        **lists: Any,
    ) -> Batch:
        """The same as :meth:`score`, under asyncio."""
        engine = await self.built()
        lists.setdefault("timeout", self.timeout)
        start = time.perf_counter()
        return self._batch(await engine.score_async(samples, **lists), start, groups_by)

    def score_rows(
        self, rows: Rows, *, groups_by: Sequence[object] | None = None, step: int = 0, **given: Any
    ) -> Batch:
        """Judges what was said to the rows of a trainer: every column, but of images and other objects.

        The completion and the prompt are those of the trainer, whatever the rows say, and so are the
        token ids where the configuration names a column for them. The reference is the column that the
        configuration names, where there is one, else that of the trainer.

        Args:
            rows: A mapping for each sample, or one of columns.
            groups_by: As in :meth:`score`.
            step: The training step.
            given: ``completions``, and where the trainer has them ``prompts``, ``references`` and
                ``token_ids``; as ``taken`` the names of what is no column of the rows.
        """
        return self._judged(_many(rows, **given), groups_by, step)

    def score_rows_async(
        self, rows: Rows, *, groups_by: Sequence[object] | None = None, step: int = 0, **given: Any
    ) -> Coroutine[Any, Any, Batch]:
        """The same as :meth:`score_rows`, under asyncio."""
        return self._judged_async(_many(rows, **given), groups_by, step)

    def score_row(self, row: Mapping[str, Any], said: Any, **given: Any) -> Batch:
        """Judges what was said to one row, as :meth:`score_rows` does.

        ``given`` are the ``prompt``, the ``reference`` and the ``token_ids`` of the trainer, where it has
        them, and ``taken``.
        """
        return self._judged(_one(row, said, **given), None, 0)

    def score_row_async(
        self, row: Mapping[str, Any], said: Any, **given: Any
    ) -> Coroutine[Any, Any, Batch]:
        """The same as :meth:`score_row`, under asyncio."""
        return self._judged_async(_one(row, said, **given), None, 0)

    def _judged(self, given: Given, groups_by: Sequence[object] | None, step: int) -> Batch:
        engine = self.engine
        start = time.perf_counter()
        options = options_of(step, None, self.timeout) if step else self._options_at_start
        batch = self._batch(engine._core.score_rows(given, options), start, groups_by)
        record(batch, given[2], given[1], groups_by, step)
        return batch

    async def _judged_async(
        self, given: Given, groups_by: Sequence[object] | None, step: int
    ) -> Batch:
        engine = self._engine or await self.built()
        start = time.perf_counter()
        options = options_of(step, None, self.timeout) if step else self._options_at_start
        scored = engine._core.score_rows_future(given, options)
        if not isinstance(scored, list):
            scored = await scored
        batch = self._batch(scored, start, groups_by)
        record(batch, given[2], given[1], groups_by, step)
        return batch

    def _batch(
        self, scored: list[Scored], start: float, groups_by: Sequence[object] | None
    ) -> Batch:
        rewards, faults = rewards_and_faults(scored, self._unweighted)
        self._faults.add(faults)
        latency_ms = 1000 * (time.perf_counter() - start)
        batch = Batch(self._names, scored, rewards, faults, latency_ms)
        if None in rewards:
            self._warn(batch)
            if self.on_fault == "raise":
                batch.need_rewards(self._trainer.name)
            elif self.on_fault == "mean_of_group":
                batch.fill(groups_by)
        return batch

    def _warn(self, batch: Batch) -> None:
        """Says once that nothing is rewarded at all."""
        outcomes = {one.outcome for one in batch.scored}
        if outcomes == {"abstained"} and not self._warned:
            self._warned = True
            _LOGGER.warning("no reward applies to any sample of a call: %s", batch.outcomes()[0])

    def _check(self) -> None:
        """Refuses at once what no engine takes: the first call is after the first generation."""
        known = Engine.__init__.__kwdefaults__ or {}
        unknown = [name for name in self._options if name not in known]
        if unknown:
            expected = ", ".join(("on_fault", "max_fault_rate", "timeout", "columns", *known))
            raise TypeError(f"{unknown[0]!r} is no setting; expected one of {expected}")
        if not isinstance(self._config, Engine):
            options = {name: own for name, own in self._options.items() if name != "verifiers"}
            if not reward_names(spec_of(self._config, **options)):
                self._engine = self._build()

    def _build(self) -> Engine:
        engine = (
            self._config if isinstance(self._config, Engine) else Engine(self._config, **self._options)
        )
        config = engine.config
        rewards = config["reward"]
        self._names = names_of(engine.names)
        self._unweighted = frozenset(one["name"] for one in rewards if one["weight"] == 0)
        dropped = config["combine"]["on_fault"] == "drop_group"
        if dropped and not self._trainer.groups:
            raise ConfigError(
                f'combine.on_fault = "drop_group": {self._trainer.name} asks for one sample at a '
                "time, so that the rest of its group cannot be dropped"
            )
        return engine

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_engine"] = None
        state["_faults"] = self._faults.max_rate
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._faults = FaultWindow(state["_faults"])


def _many(
    rows: Rows,
    *,
    completions: Column,
    prompts: Column | None = None,
    references: Column | None = None,
    token_ids: Column | None = None,
    taken: Sequence[str] = (),
) -> Given:
    return rows, completions, prompts, references, token_ids, taken


def _one(
    row: Mapping[str, Any],
    said: Any,
    *,
    prompt: Any = None,
    reference: Any = None,
    token_ids: Any = None,
    taken: Sequence[str] = (),
) -> Given:
    return (
        [row],
        [said],
        None if prompt is None else [prompt],
        None if reference is None else [reference],
        None if token_ids is None else [token_ids],
        taken,
    )


def of_environment(trainer: Trainer, config: Config | None = None, **settings: Any) -> Adapter:
    """The one adapter of this process for a trainer, a configuration and settings.

    Without a configuration it is that of the variable ``ASSAY_CONFIG``.
    """
    named = os.environ.get("ASSAY_CONFIG") if config is None else config
    key: tuple[object, ...] = (trainer, config is None, named, *settings.items())
    try:
        known = _SHARED.get(key)
    except TypeError:
        key = (trainer, config is None, _fixed(named), _fixed(settings))
        known = _SHARED.get(key)
    if known is not None:
        return known
    return shared(lambda: Adapter(plain(config_of_environment(config)), trainer, **plain(settings)), *key)


def shared(make: Callable[[], Adapter], *key: object) -> Adapter:
    """The one adapter of this process for a key, made when it is first asked for."""
    with _BUILDING:
        if key not in _SHARED:
            _SHARED[key] = make()
        return _SHARED[key]


def _fixed(value: Any) -> object:
    """A part of a key: data by what it says, any other object as itself."""
    if isinstance(value, Mapping):
        return dict, *((name, _fixed(member)) for name, member in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return list, *map(_fixed, value)
    return type(value), value


_LOGGER = logging.getLogger("assay")
_SHARED: dict[tuple[object, ...], Adapter] = {}
_BUILDING = threading.RLock()


def _after_fork() -> None:
    """A forked process does not wait for what a thread of its parent was building."""
    global _BUILDING
    _BUILDING = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
