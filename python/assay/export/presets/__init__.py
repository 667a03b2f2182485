"""The families that the exporter knows."""

from . import encoder, generative, multi, outcome, process, reranker

PRESETS = {
    **outcome.PRESETS,
    **process.PRESETS,
    **multi.PRESETS,
    **encoder.PRESETS,
    **generative.PRESETS,
    **reranker.PRESETS,
}
