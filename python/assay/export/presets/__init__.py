"""The families that the exporter knows."""

from . import encoder, generative, internlm, multi, outcome, process, reranker

PRESETS = {
    **outcome.PRESETS,
    **process.PRESETS,
    **multi.PRESETS,
    **encoder.PRESETS,
    **generative.PRESETS,
    **internlm.PRESETS,
    **reranker.PRESETS,
}
