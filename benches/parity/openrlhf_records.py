"""Every record of OpenRLHF."""

from __future__ import annotations

import openrlhf_advantages
import openrlhf_losses
from cases import Case
from records import Record


def records(cases: dict[str, list[Case]]) -> list[Record]:
    """Records of OpenRLHF's advantages, length penalties, losses, KL estimates and aggregations."""
    return openrlhf_advantages.records(cases["advantages"]) + openrlhf_losses.records(cases["losses"])
