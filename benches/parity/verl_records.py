"""Every record of verl."""

from __future__ import annotations

import verl_advantages
import verl_corrections
import verl_losses
import verl_shaping
from cases import Case
from records import Record


def records(cases: dict[str, list[Case]]) -> list[Record]:
    """Records of verl's estimators, length penalty, losses, aggregations, KL estimates and corrections."""
    advantages, losses = cases["advantages"], cases["losses"]
    made = verl_advantages.records(advantages) + verl_shaping.records(advantages)
    return made + verl_losses.records(losses) + verl_corrections.records(losses)
