"""One sample a call, as many trainers ask for rewards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from assay.adapters._batch import finite
from assay.adapters._rows import samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay._core import Verdict
    from assay._engine import Engine
    from assay.adapters._adapter import Adapter
    from assay.adapters._batch import Batch


def judged(
    adapter: Adapter, row: Mapping[str, Any], said: Any, *, prompt: Any = None, reference: Any = None
) -> Batch:
    """Judges what was said to a row of a trainer, as :func:`assay.adapters._rows.samples` says."""
    return adapter.score(**_lists(adapter.engine, row, said, prompt, reference))


async def judged_async(
    adapter: Adapter, row: Mapping[str, Any], said: Any, *, prompt: Any = None, reference: Any = None
) -> Batch:
    """The same as :func:`judged`, under asyncio."""
    return await adapter.score_async(**_lists(await adapter.built(), row, said, prompt, reference))


def measured(batch: Batch) -> dict[str, float]:
    """The metrics of a batch of one sample, with criteria of rubrics and other parts of its verdicts."""
    parts = {
        f"assay/reward/{name}/{part}": component.reward
        for name, verdict in batch.scored[0].verdicts.items()
        for part, component in verdict.components.items()
        if component.reward is not None
    }
    return finite({**batch.metrics, **parts})


def noted(batch: Batch) -> dict[str, Any]:
    """What is measured of a batch of one sample, and what became of it."""
    return {"assay_outcome": batch.outcomes()[0], **measured(batch)}


def explained(batch: Batch) -> str:
    """A line for each verdict of a batch of one sample."""
    verdicts = batch.scored[0].verdicts.items()
    return "\n".join(f"{name}: {_explained(verdict)}" for name, verdict in verdicts)


def _explained(verdict: Verdict) -> str:
    if verdict.reward is None:
        return f"{verdict.outcome}: {verdict.why}"
    evidence = json.dumps(verdict.evidence, ensure_ascii=False) if verdict.evidence else ""
    return f"{verdict.reward:g} {evidence}".rstrip()


def _lists(
    engine: Engine, row: Mapping[str, Any], said: Any, prompt: Any, reference: Any
) -> dict[str, Any]:
    prompts = None if prompt is None else [prompt]
    return samples(engine, [row], completions=[said], prompts=prompts, references=[reference])
