"""A configuration for tests: right answers, wrong answers, and answers that break the verifier."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import assay

RIGHT = "So it is \\boxed{4}."
WRONG = "So it is \\boxed{5}."
BROKEN = "So it is \\boxed{4}, boom."


@assay.verifier
def service(sample: assay.Sample) -> float | None:
    """Stands for a service that fails now and then."""
    if "boom" in sample.completion:
        raise ConnectionError("the service is down")
    return None


def config(**changes: Any) -> dict[str, Any]:
    """Rewards 1 for :data:`RIGHT`, 0 for :data:`WRONG`, and a fault for :data:`BROKEN`."""
    rewards = [{"name": "correct", "verifier": "math"}, {"name": "service", "verifier": "service"}]
    return {"version": 1, "reward": rewards, **changes}


UNEVEN = [
    {"name": "correct", "verifier": "math", "weight": 0.7},
    {"name": "short", "verifier": "length", "weight": 0.1, "config": {"max": 80}},
]
"""Rewards whose sum of a right answer is no short decimal: 0.7999999999999999."""


def rewards(completions: list[str], reference: str | None = "4") -> list[float | None]:
    """What the engine itself pays for answers by :data:`UNEVEN`."""
    engine = assay.Engine(config(reward=UNEVEN))
    scored = engine.score(completions=completions, references=[reference] * len(completions))
    return [sample.reward for sample in scored]


def documented(page: str) -> dict[str, Any]:
    """What the first lines of Python of a page of ``docs/trainers`` define, once they ran."""
    text = Path(__file__).parents[3].joinpath("docs", "trainers", page).read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None, f"{page} has no example"
    names: dict[str, Any] = {"__name__": "documented"}
    exec(compile(found[1], page, "exec"), names)
    return names
