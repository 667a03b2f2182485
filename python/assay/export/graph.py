"""The modules that become graphs: a backbone, a gather of the scored positions, a head."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import DynamicCache

from .stream import whole

Past = list[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Shape:
    """Past keys and values of a causal model."""

    layers: int
    heads: int
    head_dim: int


@torch.no_grad()
def past_shape(backbone: nn.Module) -> Shape:
    """Layers, key-value heads and their width: those of a text of two tokens."""
    cache = DynamicCache()
    try:
        backbone(input_ids=torch.zeros(1, 2, dtype=torch.int64), past_key_values=cache, use_cache=True)
        found = [tensor.shape for layer in cache.layers for tensor in (layer.keys, layer.values)]
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"this architecture keeps no past keys and values: {error}") from error
    if len({(shape[1], shape[3]) for shape in found}) != 1 or any(shape[2] != 2 for shape in found):
        raise ValueError("past keys and values of one shape are needed; those of this architecture are of several")
    return Shape(len(cache.layers), found[0][1], found[0][3])


def gather(hidden: Tensor, positions: Tensor) -> Tensor:
    """The hidden states at `positions`; −1 reads the first token, which nobody looks at."""
    index = positions.clamp(min=0).unsqueeze(-1).expand(-1, -1, hidden.shape[-1])
    return torch.gather(hidden, 1, index)


class Scorer(nn.Module):
    """`scores` (and what else the head gives) at the asked positions."""

    def __init__(self, backbone: nn.Module, head: nn.Module, outputs: tuple[str, ...] = ("scores",)) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head
        self.inputs = ["input_ids", "attention_mask", "score_positions"]
        self.outputs = list(outputs)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, score_positions: Tensor) -> tuple[Tensor, ...]:
        hidden = hidden_states(self.backbone, input_ids, attention_mask)
        return in_fp32(self.head(gather(hidden, score_positions)))


class Pooled(nn.Module):
    """An encoder with the head of a sequence classifier, which pools by itself."""

    def __init__(self, classifier: nn.Module, types: bool) -> None:
        super().__init__()
        self.classifier = classifier
        self.inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
        self.outputs = ["scores"]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.classifier(input_ids=input_ids, attention_mask=attention_mask, **types).logits.float()


class ReadAtEnd(nn.Module):
    """A sequence classifier of an encoder and a decoder: its head reads the decoder at the last end of a text.

    Transformers picks that state by a mask, which makes a shape out of values.
    """

    def __init__(self, classifier: nn.Module) -> None:
        super().__init__()
        body = next(name for name in ("model", "transformer") if hasattr(classifier, name))
        self.body = getattr(classifier, body)
        self.head = classifier.classification_head
        self.config = classifier.config
        self.inputs = ["input_ids", "attention_mask"]
        self.outputs = ["scores"]

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        first = torch.full_like(input_ids[:, :1], self.config.decoder_start_token_id)
        shifted = torch.cat([first, input_ids[:, :-1]], dim=1)
        states = self.body(
            input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=shifted, use_cache=False
        ).last_hidden_state
        places = torch.arange(input_ids.shape[1]).unsqueeze(0)
        last = torch.where(input_ids == self.config.eos_token_id, places, 0).max(dim=1, keepdim=True).values
        return self.head(gather(states, last)[:, 0]).float()


class CachedScorer(nn.Module):
    """A scorer over past keys and values: what its head gives at the asked positions of `input_ids`."""

    def __init__(self, scorer: Scorer) -> None:
        super().__init__()
        self.backbone = scorer.backbone
        self.head = scorer.head
        self.inputs = ["input_ids", "attention_mask", "position_ids", "score_positions"]
        self.outputs = scorer.outputs
        self.past = past_shape(scorer.backbone)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        score_positions: Tensor,
        past_key_values: Past,
    ) -> tuple[Tensor | Past, ...]:
        cache = DynamicCache()
        for layer, (key, value) in enumerate(past_key_values):
            cache.update(key, value, layer)
        hidden = self.backbone(
            input_ids=input_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state
        present = [(layer.keys, layer.values) for layer in cache.layers]
        return *in_fp32(self.head(gather(hidden, score_positions))), present


class Embedder(nn.Module):
    """Embeddings of texts by a pooling (`mean`, `cls`, `last`), or one a token (`token`)."""

    def __init__(self, backbone: nn.Module, pooling: str, types: bool = False) -> None:
        super().__init__()
        self.backbone = backbone
        self.pooling = pooling
        self.inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
        self.outputs = ["embeddings"]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        hidden = hidden_states(self.backbone, input_ids, attention_mask, **types)
        if self.pooling == "cls":
            hidden = hidden[:, 0]
        elif self.pooling == "last":
            last = attention_mask.sum(dim=1, keepdim=True) - 1
            hidden = gather(hidden, last)[:, 0]
        elif self.pooling == "mean":
            mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
            hidden = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        return nn.functional.normalize(hidden.float(), dim=-1)


class LmHead(nn.Module):
    """Logits of the whole vocabulary, or of a few rows of it."""

    def __init__(self, lm: nn.Module, rows: list[int] | None = None) -> None:
        super().__init__()
        head = lm.get_output_embeddings()
        weight = whole(head.weight).detach() if rows or not hasattr(head.weight, "origin") else None
        if weight is None:
            self.linear = head
        else:
            weight = weight[rows] if rows else weight
            self.linear = nn.Linear(weight.shape[1], weight.shape[0], bias=head.bias is not None)
            self.linear.weight.data = weight.clone()
            if head.bias is not None:
                self.linear.bias.data = head.bias.detach()[rows] if rows else head.bias.detach()
        self.cap: float | None = getattr(lm.config, "final_logit_softcapping", None)
        times, over = (getattr(lm.config, name, None) or 1.0 for name in ("logit_scale", "logits_scaling"))
        self.scale = times / over

    def forward(self, hidden: Tensor) -> Tensor:
        logits = self.linear(hidden)
        if self.scale != 1.0:
            logits = logits * self.scale
        return logits if self.cap is None else torch.tanh(logits / self.cap) * self.cap


class GatedHead(nn.Module):
    """ArmoRM: objectives through a matrix, and gates from another position."""

    def __init__(
        self, objectives: nn.Linear, matrix: Tensor, gate: list[nn.Linear], temperature: float, scale: float
    ) -> None:
        super().__init__()
        self.objectives = objectives
        self.matrix = nn.Parameter(matrix, requires_grad=False)
        self.gate = nn.ModuleList(gate)
        self.temperature = temperature
        self.scale = scale

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        gates = hidden
        for layer in self.gate[:-1]:
            gates = torch.relu(layer(gates))
        gates = torch.softmax(self.gate[-1](gates) / self.temperature, dim=-1) * self.scale
        return self.objectives(hidden) @ self.matrix, gates


class SpreadHead(nn.Module):
    """URM: a linear layer whose first half are means, and whose second half logarithms of standard deviations."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        means, logarithms = self.linear(hidden).float().chunk(2, dim=-1)
        return means, logarithms.exp()


class PairHead(nn.Module):
    """PairRM: the first position is the source, the others the candidates; left minus right, at each."""

    def __init__(self, first: nn.Linear, second: nn.Linear) -> None:
        super().__init__()
        self.first = first
        self.second = second

    def forward(self, hidden: Tensor) -> Tensor:
        source, left, right = hidden[:, 0], hidden[:, 1], hidden[:, 2]
        difference = self._score(source, left) - self._score(source, right)
        return difference.unsqueeze(1).expand(-1, hidden.shape[1], -1)

    def _score(self, source: Tensor, candidate: Tensor) -> Tensor:
        joined = torch.cat([source, candidate], dim=-1)
        return self.second(torch.tanh(self.first(joined))).mean(dim=-1, keepdim=True)


def in_fp32(found: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """What a head gives, whatever its precision and however many outputs it has."""
    return tuple(output.float() for output in (found if isinstance(found, tuple) else (found,)))


def hidden_states(backbone: nn.Module, input_ids: Tensor, attention_mask: Tensor, **more: Tensor) -> Tensor:
    """The last hidden states of a backbone, without a cache."""
    if hasattr(backbone.config, "use_cache"):
        more["use_cache"] = False
    return backbone(input_ids=input_ids, attention_mask=attention_mask, **more).last_hidden_state
