"""Encoders: cross-encoders, pairs and embeddings."""

from __future__ import annotations

import json

import numpy as np
import torch

from ..checkpoint import Checkpoint
from ..graph import Embedder, PairHead, Pooled, ReadAtEnd, Scorer
from ..preset import Preset, hidden, tensors
from ..sample import Encoded, Sample
from .outcome import classifier_raw, classifier_score


def uses_types(checkpoint: Checkpoint) -> bool:
    """Whether the model tells the two texts of a pair apart by type."""
    has_types = getattr(checkpoint.config, "type_vocab_size", 0) > 1
    return has_types and "token_type_ids" in checkpoint.tokenizer.model_input_names


def encode_pair(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """The prompt and the completion as a text pair."""
    found = checkpoint.tokenizer(sample.prompt, sample.completion(), return_token_type_ids=True)
    return Encoded(found.input_ids, types=found.token_type_ids if uses_types(checkpoint) else [])


def cross_encoder(checkpoint: Checkpoint) -> Pooled | ReadAtEnd:
    """The classifier as it is: it pools at its first token or over all of them; BART and T5 at the last."""
    if checkpoint.config.is_encoder_decoder:
        return ReadAtEnd(checkpoint.classifier)
    return Pooled(checkpoint.classifier, uses_types(checkpoint))


def encode_pairrm(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """PairRM: the source and each candidate tokenised apart, each behind a tag of its own."""
    texts = {"<|source|>": sample.prompt, "<|candidate1|>": sample.completion(), "<|candidate2|>": sample.second}
    ids: list[int] = []
    for tag, text in texts.items():
        ids += checkpoint.tokenizer.encode(tag + text)
    return Encoded(ids, [ids.index(checkpoint.token_id(tag)) for tag in texts])


def pairrm(checkpoint: Checkpoint) -> Scorer:
    """Two layers over the source and a candidate."""
    head = PairHead(checkpoint.linear("head_layer.1"), checkpoint.linear("head_layer.4"))
    return Scorer(checkpoint.backbone, head)


@torch.no_grad()
def pairrm_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """Left minus right; the graph says it at each of the three positions."""
    source, left, right = hidden(checkpoint, encoded)[encoded.positions]
    weight = checkpoint.tensor

    def score(candidate: torch.Tensor) -> torch.Tensor:
        middle = torch.cat([source, candidate]) @ weight("head_layer.1.weight").T + weight("head_layer.1.bias")
        return (middle.tanh() @ weight("head_layer.4.weight").T + weight("head_layer.4.bias")).mean()

    return [np.full((3, 1), (score(left) - score(right)).item(), dtype=np.float32)]


def encode_text(checkpoint: Checkpoint, sample: Sample) -> Encoded:
    """The completion alone."""
    ids = checkpoint.tokenizer.encode(sample.completion())
    return Encoded(ids, types=[0] * len(ids) if uses_types(checkpoint) else [])


def pooling(checkpoint: Checkpoint) -> str:
    """How the folder says that it pools, in the manner of sentence-transformers; else the mean."""
    modules = checkpoint.folder / "modules.json"
    if modules.exists():
        types = {module["type"].rpartition(".")[2] for module in json.loads(modules.read_text(encoding="utf-8"))}
        if more := sorted(types - {"Transformer", "Pooling", "Normalize"}):
            raise ValueError(f"this model has more than a transformer and a pooling: {', '.join(more)}")
    path = checkpoint.folder / "1_Pooling" / "config.json"
    if not path.exists():
        return "mean"
    modes = json.loads(path.read_text(encoding="utf-8"))
    known = {"pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last", "pooling_mode_mean_tokens": "mean"}
    names = {"cls": "cls", "lasttoken": "last", "mean": "mean"}
    chosen = [known.get(mode, mode) for mode, on in modes.items() if mode.startswith("pooling_mode_") and on]
    chosen = chosen or [names.get(modes.get("pooling_mode"), str(modes.get("pooling_mode")))]
    if len(chosen) > 1 or chosen[0] not in known.values():
        raise ValueError(f"poolings are mean, cls or last; this model's is {' and '.join(chosen)}")
    return chosen[0]


def sentence(checkpoint: Checkpoint) -> Embedder:
    """One embedding a text, of length 1."""
    return Embedder(checkpoint.backbone, pooling(checkpoint), uses_types(checkpoint))


@torch.no_grad()
def sentence_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """As sentence-transformers: pooling by the mask, then normalisation."""
    batch = tensors(encoded)
    states = checkpoint.backbone(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1).expand(states.size()).float()
    pooled = {
        "cls": lambda: states[:, 0],
        "last": lambda: states[:, -1],
        "mean": lambda: torch.sum(states * mask, 1) / torch.clamp(mask.sum(1), min=1e-9),
    }[pooling(checkpoint)]()
    return [torch.nn.functional.normalize(pooled, p=2, dim=1)[0].numpy()]


def tokens(checkpoint: Checkpoint) -> Embedder:
    """Each token, of length 1."""
    return Embedder(checkpoint.backbone, "token", uses_types(checkpoint))


def tokens_raw(checkpoint: Checkpoint, encoded: Encoded) -> list[np.ndarray]:
    """The last hidden states, normalised."""
    states = hidden(checkpoint, encoded)
    return [(states / states.norm(dim=-1, keepdim=True)).numpy()]


PRESETS = {
    "sequence-classifier": Preset(
        kind="outcome",
        template="{{ prompt }}{{ pair }}{{ completion }}",
        encode=encode_pair,
        build=cross_encoder,
        raw=classifier_raw,
        score=classifier_score,
        add_special_tokens=True,
        talk=False,
    ),
    "pairrm": Preset(
        kind="pairwise",
        template="[CLS]<|source|>{{ mark }}{{ prompt }}[SEP]"
        "{{ cut }}[CLS]<|candidate1|>{{ mark }}{{ first }}[SEP]"
        "{{ cut }}[CLS]<|candidate2|>{{ mark }}{{ second }}[SEP]",
        encode=encode_pairrm,
        build=pairrm,
        raw=pairrm_raw,
        score=lambda _: {"transform": "sigmoid", "aggregate": "last", "range": [0.0, 1.0]},
        talk=False,
    ),
    "sentence-embedding": Preset(
        kind="embedding",
        template="{{ completion }}",
        encode=encode_text,
        build=sentence,
        raw=sentence_raw,
        score=lambda _: {"transform": "none"},
        add_special_tokens=True,
        talk=False,
    ),
    "token-embedding": Preset(
        kind="embedding",
        template="{{ completion }}",
        encode=encode_text,
        build=tokens,
        raw=tokens_raw,
        score=lambda _: {"transform": "none"},
        add_special_tokens=True,
        talk=False,
    ),
}
