"""What a trainer can do with a sample that has no reward, and the end of a run that nobody may catch."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Literal

from assay._core import ConfigError
from assay._faults import TooManyFaults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    OnFault: TypeAlias = Literal["mask", "raise", "mean_of_group"]


class Trainer:
    """What a trainer can do with a sample that has no reward.

    Args:
        name: Its name in messages.
        masks: Whether it takes a sample without a reward and leaves it out.
        groups: Whether all samples of a prompt come in one call.
        on_fault: What happens where the user says nothing; by default ``"mask"`` where it masks, then
            ``"mean_of_group"`` where it has groups, else ``"raise"``.
        uses: What of the adapter the trainer takes, for the table in ``docs/trainers``.
        fault: What the trainer then gets, and makes of it, for the same table.
    """

    def __init__(
        self,
        name: str,
        *,
        masks: bool = False,
        groups: bool = False,
        on_fault: OnFault | None = None,
        uses: str = "",
        fault: str = "",
    ) -> None:
        self.name = name
        self.masks = masks
        self.groups = groups
        default: OnFault = "mask" if masks else "mean_of_group" if groups else "raise"
        self.on_fault = default if on_fault is None else on_fault
        self.uses = uses
        self.fault = fault

    def rule(self, asked: OnFault | None) -> OnFault:
        """What becomes of a sample without a reward."""
        rule = self.on_fault if asked is None else asked
        if rule not in ("mask", "raise", "mean_of_group"):
            raise ConfigError(
                f'on_fault: {rule!r} is not one of "mask", "raise", "mean_of_group"; '
                '"drop_group" and "floor" are set as `combine.on_fault` of the configuration'
            )
        if rule == "mask" and not self.masks:
            raise ConfigError(
                f'on_fault = "mask": {self.name} cannot leave a sample out; use "raise", or '
                '`combine.on_fault = "floor"` with a `combine.floor` in the configuration'
            )
        if rule == "mean_of_group" and not self.groups:
            raise ConfigError(f'on_fault = "mean_of_group": {self.name} asks for one sample at a time')
        return rule


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Turns too many faults into ``SystemExit``, for trainers that catch every exception and go on."""
    try:
        yield
    except TooManyFaults as error:
        logging.getLogger("assay").critical("%s", error)
        raise SystemExit(f"assay: {error}") from error
