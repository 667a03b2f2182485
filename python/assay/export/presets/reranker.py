"""Rerankers that are language models: a question, and the logits of one or two label tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checkpoint import Checkpoint
from ..graph import LmHead, Scorer
from ..preset import Preset, logits
from ..sample import Encoded, Sample

QWEN_SYSTEM = (
    "Judge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".'
)
QWEN_INSTRUCT = "Given a web search query, retrieve relevant passages that answer the query"
GEMMA_ASK = (
    "Given a query A and a passage B, determine whether the passage contains an answer to the query by "
    "providing a prediction of either 'Yes' or 'No'."
)
MXBAI_ASK = (
    "You are a search relevance expert who evaluates how well documents match search queries. For each "
    "query-document pair, carefully analyze the semantic relationship between them, then provide your binary "
    "relevance judgment (0 for not relevant, 1 for relevant).\nRelevance:"
)


@dataclass(frozen=True)
class Reranker:
    """Parts that are tokenised apart, the tokens of its labels, and what becomes of their logits.

    `%p` is the query and `%c` the document.
    """

    parts: tuple[str, ...]
    labels: tuple[str, ...]
    score: dict[str, Any]

    @property
    def template(self) -> str:
        """The parts as a template: a text is a literal of Jinja, since blocks would eat its line breaks."""
        parts = [part.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"') for part in self.parts]
        parts = [part.replace("%p", '" ~ prompt ~ "').replace("%c", '" ~ completion ~ "') for part in parts]
        return "{{ cut }}".join(f'{{{{ "{part}" }}}}' for part in parts)

    def encode(self, checkpoint: Checkpoint, sample: Sample) -> Encoded:
        """The ids of the parts, one after another; read at the last."""
        ids: list[int] = []
        for part in self.parts:
            text = part.replace("%p", sample.prompt).replace("%c", sample.completion())
            ids += checkpoint.tokenizer.encode(text, add_special_tokens=False)
        return Encoded(ids, [len(ids) - 1])

    def ids(self, checkpoint: Checkpoint) -> list[int]:
        """The first token of each label."""
        return [checkpoint.tokenizer.encode(label, add_special_tokens=False)[0] for label in self.labels]

    def build(self, checkpoint: Checkpoint) -> Scorer:
        """Those rows of the language-model head."""
        return Scorer(checkpoint.lm.base_model, LmHead(checkpoint.lm, self.ids(checkpoint)))

    def raw(self, checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
        """The logits of the labels."""
        return [logits(checkpoint, encoded)[0][:, self.ids(checkpoint)]]


RERANKERS = {
    "qwen3-reranker": Reranker(
        (
            f"<|im_start|>system\n{QWEN_SYSTEM}<|im_end|>\n<|im_start|>user\n",
            f"<Instruct>: {QWEN_INSTRUCT}\n<Query>: %p\n<Document>: %c",
            "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        ),
        ("yes", "no"),
        {"transform": "softmax", "index": 0, "labels": ["yes", "no"], "range": [0.0, 1.0]},
    ),
    "bge-reranker-gemma": Reranker(
        ("<bos>", "A: %p", "\n", "B: %c", "\n", GEMMA_ASK),
        ("Yes",),
        {"transform": "none", "labels": ["Yes"]},
    ),
    "mxbai-rerank-v2": Reranker(
        (
            "<|endoftext|><|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful "
            "assistant.<|im_end|>\n<|im_start|>user\n",
            "query: %p",
            "\n",
            "document: %c",
            "\n",
            MXBAI_ASK,
            "<|im_end|>\n<|im_start|>assistant\n",
        ),
        ("1", "0"),
        {"transform": "weighted", "weights": [1.0, -1.0], "labels": ["1", "0"]},
    ),
}


def _constant(table: dict[str, Any]) -> Callable[[Checkpoint], dict[str, Any]]:
    return lambda _: {**table, "aggregate": "last"}


PRESETS = {
    name: Preset(
        kind="outcome",
        template=one.template,
        encode=one.encode,
        build=one.build,
        raw=one.raw,
        score=_constant(one.score),
        talk=False,
    )
    for name, one in RERANKERS.items()
}
