"""What the samples of one call came to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from assay._faults import Unscored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from assay._core import Scored
    from assay._faults import Fault

LATENCY = "assay/latency_ms"


class Names(NamedTuple):
    """The names of the rewards, and of what a trainer logs."""

    rewards: list[str]
    metrics: tuple[str, ...]


def names_of(rewards: list[str]) -> Names:
    """The names by those of the rewards."""
    rates = ("assay/fault_rate", "assay/abstained_rate", LATENCY, "assay/sample_ms")
    return Names(rewards, (*rates, *(f"assay/reward/{name}" for name in rewards)))


class Batch:
    """The samples of one call, their rewards, and what a trainer logs of them.

    Attributes:
        scored: What the engine says of each sample.
        rewards: The reward of each; ``None`` where it has none and the trainer leaves it out.
        faults: Why each could not be judged; ``None`` where it was, or where no reward applies.
        latency_ms: How long the call took.
    """

    __slots__ = ("_names", "faults", "latency_ms", "rewards", "scored")

    def __init__(
        self,
        names: Names,
        scored: list[Scored],
        rewards: list[float | None],
        faults: list[Fault | None],
        latency_ms: float,
    ) -> None:
        self.scored = scored
        self.rewards: list[float | None] = rewards
        self.faults = faults
        self.latency_ms = latency_ms
        self._names = names

    @property
    def metrics(self) -> dict[str, float]:
        """What a trainer logs of the call. The keys are always the same; NaN is the mean of nothing.

        ``assay/latency_ms`` is how long the call took, ``assay/sample_ms`` the time that the verdicts
        of a sample took.
        """
        if len(self.scored) == 1:
            return self.sample_metrics(0)
        every = self.by_sample()
        values = {
            name: [one[name] for one in every if one[name] == one[name]] for name in self._names.metrics
        }
        return {name: _mean(of) for name, of in values.items()} | {LATENCY: self.latency_ms}

    def sample_metrics(self, at: int, missing: float | None = math.nan) -> dict[str, Any]:
        """The same of one sample: a rate is 0 or 1. A reward without a number is ``missing``."""
        is_fault = self.faults[at] is not None
        return self.scored[at]._metrics(self._names.metrics, is_fault, self.latency_ms, missing)

    def by_sample(self) -> list[dict[str, float]]:
        """The same of every sample by itself."""
        return [self.sample_metrics(at) for at in range(len(self.scored))]

    def outcomes(self) -> list[str]:
        """``scored``, ``abstained: why`` or ``failed: kind: why`` of each sample."""
        return [_outcome(sample, fault) for sample, fault in zip(self.scored, self.faults, strict=True)]

    def need_rewards(self, trainer: str) -> None:
        """Raises an error that names the first sample without a reward."""
        if None not in self.rewards:
            return
        for sample, reward, outcome in zip(self.scored, self.rewards, self.outcomes(), strict=True):
            if reward is None:
                raise Unscored(
                    f"sample {sample.id}: {outcome}. {trainer} needs a reward for every sample: "
                    '`on_fault` of the adapter or `combine.on_fault = "floor"` of the configuration '
                    "say what a fault is worth; where no reward applies, give the sample one that does"
                )

    def fill(self, groups_by: Sequence[object] | None) -> None:
        """Gives samples without a reward the mean of their group, and so no advantage.

        In a group that has no reward at all it is the mean of all samples, the same for each of them.
        """
        if all(reward is None for reward in self.rewards):
            self.need_rewards("no sample has a reward of which to take the mean; the trainer")
        self.rewards = list(filled(self.rewards, groups_by))

    def parts(self) -> dict[str, list[float | None]]:
        """What each reward of the configuration gives the samples that have a reward at all."""
        return {
            name: [None if one.reward is None else one.rewards[name] for one in self.scored]
            for name in self._names.rewards
        }


def filled(
    values: Sequence[float | None], groups_by: Sequence[object] | None, default: float = math.nan
) -> list[float]:
    """The values, and where there is none the mean of the group, else of all, else the default.

    >>> from assay.adapters._batch import filled
    >>> filled([1.0, None, None], ["a", "a", "b"])
    [1.0, 1.0, 1.0]
    """
    keys = [repr(key) for key in ([0] * len(values) if groups_by is None else groups_by)]
    groups: dict[str, list[float]] = {key: [] for key in keys}
    for key, value in zip(keys, values, strict=True):
        groups[key].extend([] if value is None else [value])
    every = [value for group in groups.values() for value in group] or [default]
    return [
        _mean(groups[key] or every) if value is None else value
        for key, value in zip(keys, values, strict=True)
    ]


def finite(metrics: Mapping[str, float]) -> dict[str, float]:
    """The metrics without those that are the mean of nothing."""
    return {name: value for name, value in metrics.items() if math.isfinite(value)}


def _outcome(sample: Scored, fault: Fault | None) -> str:
    if fault is not None:
        return "failed: {}: {}".format(*fault)
    if sample.outcome == "scored":
        return "scored"
    verdicts = sample.verdicts.items()
    parts = "; ".join(f"{name}: {one.why}" for name, one in verdicts if one.why is not None)
    return f"{sample.outcome}: {sample.why} ({parts})" if parts else f"{sample.outcome}: {sample.why}"


def _mean(values: Iterable[float]) -> float:
    listed = [float(value) for value in values]
    return sum(listed) / len(listed) if listed else math.nan
