"""Every record of TRL."""

from __future__ import annotations

import trl_advantages
import trl_losses
from cases import Case
from records import Record


def records(cases: dict[str, list[Case]]) -> list[Record]:
    """Records of TRL's advantages, losses and corrections."""
    return trl_advantages.records(cases["advantages"]) + trl_losses.records(cases["losses"])
