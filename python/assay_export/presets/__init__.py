"""The families that the exporter knows."""

from . import outcome, process

PRESETS = {**outcome.PRESETS, **process.PRESETS}
