"""lm-evaluation-harness: results of a document, a metric and a filter.

>>> from assay.adapters import lm_eval
>>> process_results = lm_eval.results("assay.toml")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay._faults import Unscored
from assay.adapters._adapter import Adapter, Batch, Config, Trainer, of_environment
from assay.adapters._talk import answer_of

TRAINER = Trainer(
    "lm-evaluation-harness", masks=True,
    uses="`lm_eval.process_results`, `lm_eval.results(config)`, `lm_eval.metric(config)`, "
    "`lm_eval.answers`",
    fault="NaN, left out of the mean",
)
"""A NaN is left out by the aggregation ``nanmean``."""


def results(
    config: Config | None = None, *, name: str = "assay", **settings: Any
) -> Callable[[Mapping[str, Any], Sequence[Any]], dict[str, float]]:
    """A function for ``process_results`` of a task.

    Its results are ``name``, the reward or NaN, and ``assay_fault_rate`` and ``assay_latency_ms``. The
    document is the row; ``answer`` or ``target`` of it is the reference, unless it has the column that
    the configuration names. Several completions of a document are one result, their mean.
    """
    adapter = Adapter(config, TRAINER, **settings)
    return lambda doc, results: _results(adapter, name, doc, results)


def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
    """The results by the configuration in ``ASSAY_CONFIG``, to be named as
    ``!function assay.adapters.lm_eval.process_results``."""
    return _results(of_environment(TRAINER), "assay", doc, results)


def register(config: Config | None = None, *, name: str = "assay", **settings: Any) -> None:
    """Registers a metric that ``metric_list`` of a task may name, with ``nanmean`` as aggregation.

    It sees the target and the answer alone; for several targets, or other columns of a document, use
    :func:`results`.
    """
    importlib.import_module("lm_eval.api.metrics")
    registry = importlib.import_module("lm_eval.api.registry")
    decorate = registry.register_metric(metric=name, higher_is_better=True, aggregation="nanmean")
    decorate(metric(config, name=name, **settings))


def metric(
    config: Config | None = None, *, name: str = "assay", **settings: Any
) -> Callable[..., dict[str, float]]:
    """A metric function, for :func:`register` or ``metric: !function`` of a task."""
    adapter = Adapter(config, TRAINER, **settings)

    def assay(references: Sequence[Any], predictions: Sequence[Any], **options: Any) -> dict[str, float]:
        batch = adapter.score(completions=list(predictions), references=list(references))
        return _Values(_values(batch, name))

    assay.__name__ = name
    return assay


def answers(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The answer that each response gives, found as every check finds it, for the ``custom`` filter:
    ``filter_fn: !function assay.adapters.lm_eval.answers``.

    Where there is none it is ``[invalid]``, as of the filters of the harness.

    >>> from assay.adapters import lm_eval
    >>> lm_eval.answers([["So it is \\\\boxed{4}.", ""]], [{}])
    [['4', '[invalid]']]
    """
    found = [[answer_of(response) for response in several] for several in resps]
    return [["[invalid]" if one is None else one for one in several] for several in found]


class _Values(dict[str, float]):
    """The values of a metric. Of a task with several targets the harness takes the value by its name,
    and a NaN as a full score: that is an error instead."""

    def __getitem__(self, name: str) -> float:
        value = super().__getitem__(name)
        if math.isnan(value):
            raise Unscored(
                f"{name}: an answer could not be judged, and the task has several targets, of which "
                "the harness takes NaN for a match: use `process_results`"
            )
        return value


def _results(
    adapter: Adapter, name: str, doc: Mapping[str, Any], results: Sequence[Any]
) -> dict[str, float]:
    [said] = results
    completions = list(said) if isinstance(said, list | tuple) else [said]
    references = [doc.get("answer", doc.get("target"))] * len(completions)
    rows = [doc] * len(completions)
    return _values(adapter.score_rows(rows, completions=completions, references=references), name)


def _values(batch: Batch, name: str) -> dict[str, float]:
    rewards = [reward for reward in batch.rewards if reward is not None]
    return {
        name: sum(rewards) / len(rewards) if rewards else math.nan,
        "assay_fault_rate": batch.metrics["assay/fault_rate"],
        "assay_latency_ms": batch.latency_ms,
    }
