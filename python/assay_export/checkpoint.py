"""A Hugging Face model folder: its backbone, its heads and its tokenizer, without remote code."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from torch import nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils.logging import disable_progress_bar

disable_progress_bar()


class Checkpoint:
    """Reads a model folder. Weights are loaded in fp32 and only when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        self.tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)

    def _load(self, auto: type) -> PreTrainedModel:
        options = {"dtype": torch.float32, "trust_remote_code": False, "output_loading_info": True}
        model, info = auto.from_pretrained(self.folder, **options)
        missing = sorted(key for key in info["missing_keys"] if "pooler" not in key or auto is not AutoModel)
        if missing:
            raise ValueError(f"the checkpoint has no {', '.join(missing)}: another preset reads its head")
        return model.eval()

    @cached_property
    def backbone(self) -> PreTrainedModel:
        """The model without a head."""
        return self._load(AutoModel)

    @cached_property
    def tokens_max(self) -> int:
        """The longest text. RoBERTa counts positions from behind the id of its padding."""
        limit = getattr(self.config, "max_position_embeddings", 512)
        table = getattr(getattr(self.backbone, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        return limit if padding is None else limit - padding - 1

    @cached_property
    def classifier(self) -> PreTrainedModel:
        """The model with the head of a sequence classifier."""
        return self._load(AutoModelForSequenceClassification)

    @cached_property
    def lm(self) -> PreTrainedModel:
        """The model with its language-model head."""
        return self._load(AutoModelForCausalLM)

    def tensor(self, name: str) -> torch.Tensor:
        """One tensor of the checkpoint, in fp32."""
        with safe_open(self.folder / self._tensor_files[name], framework="pt") as file:
            return file.get_tensor(name).float()

    def has(self, name: str) -> bool:
        """Whether the checkpoint holds a tensor of this name."""
        return name in self._tensor_files

    def linear(self, name: str) -> nn.Linear:
        """The linear layer whose tensors are `name.weight` and, where it exists, `name.bias`."""
        weight = self.tensor(f"{name}.weight")
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=self.has(f"{name}.bias"))
        layer.weight.data = weight
        if layer.bias is not None:
            layer.bias.data = self.tensor(f"{name}.bias")
        return layer

    def token_id(self, text: str) -> int:
        """The id of a text that must be one token."""
        ids = self.tokenizer.encode(text, add_special_tokens=False)
        if len(ids) != 1:
            raise ValueError(f"{text!r} is {len(ids)} tokens and should be one")
        return ids[0]

    @cached_property
    def plain_tokenizer(self) -> Tokenizer:
        """The tokenizer as assay will read it."""
        return Tokenizer.from_file(str(self.folder / "tokenizer.json"))

    @cached_property
    def _tensor_files(self) -> dict[str, str]:
        index = self.folder / "model.safetensors.index.json"
        if index.exists():
            return json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        with safe_open(self.folder / "model.safetensors", framework="pt") as file:
            return dict.fromkeys(file.keys(), "model.safetensors")
