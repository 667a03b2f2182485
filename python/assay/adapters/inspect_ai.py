"""Inspect: a scorer for ``inspect eval`` and ``inspect score``.

>>> from assay.adapters import inspect_ai
>>> task = Task(dataset=dataset, scorer=inspect_ai.scorer("assay.toml"))  # doctest: +SKIP
"""

from __future__ import annotations

import functools
import importlib
import math
import os
from collections.abc import Callable
from typing import Any

from assay.adapters._adapter import Adapter, Batch, Config, Trainer, config_of_environment
from assay.adapters._one import explained, measured
from assay.adapters._talk import answer_of

TRAINER = Trainer("Inspect", masks=True, uses="`inspect_ai.scorer(config)`", fault="unscored")
FINISH_REASONS = {"max_tokens": "length", "model_length": "length"}


def scorer(config: Config | None = None, *, parts: bool = False, **settings: Any) -> Any:
    """A scorer by a configuration, whose metrics are the mean reward and its standard error.

    The value is the reward. A sample without one is unscored: Inspect counts it as such, and leaves it
    out of metrics. The target is the reference and the metadata of a sample are columns, unless they
    have the column that the configuration names as the reference. Every verdict is in the metadata of
    the score.

    With ``parts`` the value is a dictionary: ``reward``, and each reward of the configuration by name.
    """
    chosen = config_of_environment(config)
    if isinstance(chosen, os.PathLike):
        chosen = os.path.abspath(chosen)
    return _scorer(parts)(chosen, **settings)


@functools.cache
def _scorer(parts: bool) -> Callable[..., Any]:
    """The scorer that Inspect registers, and makes anew from the log of an evaluation."""
    inspect = importlib.import_module("inspect_ai.scorer")

    def latency_ms() -> Any:
        def mean(scores: list[Any]) -> float:
            took = [_took(score.score.metadata) for score in scores]
            return sum(took) / len(took) if took else 0.0

        return mean

    def assay(config: Any, **settings: Any) -> Any:
        adapter = Adapter(config, TRAINER, **settings)

        async def score(state: Any, target: Any) -> Any:
            said, row = state.output.completion, _row(state)
            asked = {"prompt": state.input_text, "reference": _reference(target)}
            batch = await adapter.score_row_async(row, said, **asked)
            return _score(inspect.Score, state, batch, parts)

        return score

    means = [inspect.mean(), inspect.stderr()]
    metrics = [*([{"*": means}] if parts else means), inspect.metric(latency_ms)()]
    named = inspect.scorer(metrics=metrics, name="assay_parts" if parts else "assay")
    registered: Callable[..., Any] = named(assay)
    return registered


def _row(state: Any) -> dict[str, Any]:
    reason = state.output.stop_reason
    choices = [choice.value for choice in state.choices]
    finish_reason = FINISH_REASONS.get(reason, reason)
    return {"choices": choices, "finish_reason": finish_reason, **(state.metadata or {})}


def _reference(target: Any) -> Any:
    texts = [text for text in target if text]  # without a target it is one empty text
    return texts[0] if len(texts) == 1 else texts or None


def _score(kind: Any, state: Any, batch: Batch, parts: bool) -> Any:
    scored = batch.scored[0]
    [reward] = batch.rewards
    told = {
        "answer": answer_of(state.output.completion, state.input_text),
        "explanation": explained(batch),
        "metadata": {"assay": {"outcome": batch.outcomes()[0], **measured(batch)}},
    }
    if reward is None:
        reason = "scoring_failed" if scored.outcome == "failed" else scored.outcome
        return kind.unscored(reason=reason, **told)
    if not parts:
        return kind(value=reward, **told)
    rewards = {name: verdict.reward for name, verdict in scored.verdicts.items()}
    numbers = {name: math.nan if one is None else one for name, one in rewards.items()}
    return kind(value={"reward": reward, **numbers}, **told)


def _took(metadata: dict[str, Any] | None) -> float:
    return float((metadata or {}).get("assay", {}).get("assay/latency_ms", 0.0))
