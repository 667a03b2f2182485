"""What the adapters of all trainers share."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay._core import ConfigError
from assay._engine import Engine
from assay._faults import FaultWindow
from assay.adapters._batch import Batch, fault_of
from assay.adapters._given import Config, config_of, config_of_environment, plain
from assay.adapters._rows import lists_of
from assay.adapters._trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay._core import Scored
    from assay.adapters._rows import Rows
    from assay.adapters._trainer import OnFault as OnFault

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
        self._trainer = trainer
        self._options = options
        self._config = config_of(config, options)
        self._faults = FaultWindow(max_fault_rate)
        self._engine: Engine | None = None
        self._names: list[str] = []
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
        """Judges what was said to the rows of a trainer.

        Args:
            rows: A mapping for each sample, or one of columns.
            groups_by: As in :meth:`score`.
            step: The training step.
            given: What the trainer gives beside the rows: see :func:`assay.adapters._rows.lists_of`.
        """
        lists = lists_of(self.engine, rows, **given)
        return self.score(groups_by=groups_by, step=step, **lists)

    async def score_rows_async(
        self, rows: Rows, *, groups_by: Sequence[object] | None = None, step: int = 0, **given: Any
    ) -> Batch:
        """The same as :meth:`score_rows`, under asyncio."""
        lists = lists_of(await self.built(), rows, **given)
        return await self.score_async(groups_by=groups_by, step=step, **lists)

    def _batch(
        self, scored: list[Scored], start: float, groups_by: Sequence[object] | None
    ) -> Batch:
        faults = [fault_of(sample, self._unweighted) for sample in scored]
        self._faults.add(faults)
        batch = Batch(self._names, scored, faults, 1000 * (time.perf_counter() - start))
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

    def _build(self) -> Engine:
        engine = (
            self._config if isinstance(self._config, Engine) else Engine(self._config, **self._options)
        )
        config = engine.config
        rewards = config["reward"]
        self._names = engine.names
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
