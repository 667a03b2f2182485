"""Every record of verl."""

from __future__ import annotations

import verl_advantages
import verl_corrections
import verl_losses
from cases import Case
from records import Record


def records(cases: dict[str, list[Case]]) -> list[Record]:
    """Records of verl's estimators, losses, aggregations, KL estimates and rollout corrections."""
    losses = cases["losses"]
    made = verl_advantages.records(cases["advantages"])
    return made + verl_losses.records(losses) + verl_corrections.records(losses)
