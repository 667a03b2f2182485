"""A Hugging Face model folder: its backbone, its heads and its tokenizer, without remote code."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from torch import nn
from transformers import (
    CONFIG_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_FOR_TEXT_ENCODING_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoModelForTextEncoding,
    AutoModelForTokenClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.utils.logging import disable_progress_bar

from . import stream
from .chat import dated, portable
from .progress import Tell, silent
from .remote import CONVERSIONS

disable_progress_bar()

LENGTHS = ("max_position_embeddings", "max_seq_len", "seq_length")
LONGEST_TEXT = 1 << 20
MODELS = ("backbone", "classifier", "token_classifier", "lm")

STREAMED_ABOVE = 250_000_000
"""Parameters from which on weights are not all held in memory, unless that is asked for."""


class Checkpoint:
    """Reads a model folder. Weights are computed with in fp32, and loaded only when they are asked for.

    `streamed`: a module of the model holds its weights only while it runs. By default, large models are.
    """

    def __init__(
        self, folder: Path, chat_template: str | None = None, tell: Tell = silent, streamed: bool | None = None
    ) -> None:
        self.folder = folder
        self.tell = tell
        self._streamed = streamed
        self.record: stream.Record | None = None
        path = folder / "config.json"
        given = _object(path)
        kind = given.get("model_type")
        if not isinstance(kind, str):
            raise ValueError(f"{path}: model_type: expected the name of an architecture, found {kind!r}")
        if quantised := given.get("quantization_config"):
            how = quantised.get("quant_method") if isinstance(quantised, dict) else quantised
            raise ValueError(f"{path}: quantization_config: {how}: give the checkpoint whose weights are floats")
        self.conversion = CONVERSIONS.get(kind)
        if self.conversion is None and kind not in CONFIG_MAPPING:
            raise ValueError(
                f"transformers knows no architecture {kind!r}, and no code of the model folder is run: save its "
                "weights under the names of an architecture that it is, or take a newer transformers"
            )
        with _built_of(path):
            self.config = (
                self.conversion.config(given)
                if self.conversion
                else AutoConfig.from_pretrained(folder, trust_remote_code=False)
            )
        reader = PreTrainedTokenizerFast if self.conversion else AutoTokenizer
        try:
            self.tokenizer: PreTrainedTokenizerBase = reader.from_pretrained(folder, trust_remote_code=False)
        except Exception as error:  # those of tokenizers have no class of their own
            has = (folder / "tokenizer.json").exists()
            what = "is none that transformers reads" if has else "is missing, and transformers cannot make one here"
            raise ValueError(f"tokenizer.json {what}: {error}") from error
        chat_template = chat_template or self.tokenizer.chat_template
        if isinstance(chat_template, dict):
            chat_template = chat_template.get("default")
        self.tokenizer.chat_template = chat_template and dated(chat_template)

    @cached_property
    def chat(self) -> str:
        """The chat template as assay will read it; empty where there is none."""
        return portable(self.tokenizer.chat_template) if self.tokenizer.chat_template else ""

    def _load(self, auto: Any) -> PreTrainedModel:
        if type(self.config) not in auto._model_mapping:
            raise ValueError(f"transformers has no {auto.__name__} of the architecture {self.config.model_type}")
        if self.streamed:
            return self._lay_out(auto)
        self.tell(f"loading the weights of {self.folder}")
        options = {"dtype": torch.float32, "trust_remote_code": False, "output_loading_info": True}
        model, info = auto.from_pretrained(self.folder, ignore_mismatched_sizes=True, **options)
        if info["mismatched_keys"]:
            sizes = (f"{name} of {list(given)}, not {list(wanted)}" for name, given, wanted in info["mismatched_keys"])
            raise ValueError(f"the checkpoint does not fit its config.json: {'; '.join(sizes)}")
        missing = sorted(key for key in info["missing_keys"] if "pooler" not in key or auto is not AutoModel)
        if missing:
            raise ValueError(f"the checkpoint has no {', '.join(missing)}: another preset reads its head")
        return model.eval()

    def _lay_out(self, auto: Any) -> PreTrainedModel:
        """The model without its weights, which are read from the checkpoint layer by layer."""
        with _built_of(self.folder / "config.json"), stream.weightless():
            model = auto.from_config(self.config, dtype=torch.float32, trust_remote_code=False).eval()
        missing = stream.attach(model, model.base_model_prefix, self.has, self.tensor)
        missing = sorted(name for name in missing if "pooler" not in name or auto is not AutoModel)
        if missing:
            names = f"{', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}"
            raise ValueError(
                f"the checkpoint has no {names}: another preset reads its head, or the tensors of "
                f"{self.config.model_type} are put together when they are loaded: try --in-memory"
            )
        self.record = self.record or stream.Record(model)
        return model

    @cached_property
    def streamed(self) -> bool:
        """Whether a module holds its weights only while it runs."""
        if self._streamed is None:
            # Under other names, transformers itself loads nothing.
            return bool(self.conversion) or (self.parameters > STREAMED_ABOVE and not self._pickles)
        return self._streamed

    @property
    def _pickles(self) -> bool:
        return any(name.endswith(".bin") for name in self._tensor_files.values())

    @cached_property
    def backbone(self) -> PreTrainedModel:
        """The model without a head; of an encoder and a decoder, the encoder."""
        half = self.config.is_encoder_decoder and type(self.config) in MODEL_FOR_TEXT_ENCODING_MAPPING
        return self._load(AutoModelForTextEncoding if half else AutoModel)

    @cached_property
    def tokens_max(self) -> int:
        """The longest text. RoBERTa counts positions from behind the id of its padding."""
        limit = next((found for name in LENGTHS if (found := getattr(self.config, name, None) or 0) > 0), None)
        if limit is None:
            limit = self.tokenizer.model_max_length if self.tokenizer.model_max_length <= LONGEST_TEXT else 512
        ropes = getattr(self.config, "rope_parameters", None) or {}
        for rope in [ropes, *(inner for inner in ropes.values() if isinstance(inner, dict))]:
            if rope.get("rope_type") == "longrope":  # longer texts have other frequencies: see tracing
                limit = min(limit, rope["original_max_position_embeddings"])
        with _built_of(self.folder / "config.json"), torch.device("meta"):
            skeleton = AutoModel.from_config(self.config)
        table = getattr(getattr(skeleton, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        return limit if padding is None else limit - padding - 1

    @property
    def classifies(self) -> bool:
        """Whether transformers has a sequence classifier of this architecture."""
        return type(self.config) in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING

    @cached_property
    def classifier(self) -> PreTrainedModel:
        """The model with the head of a sequence classifier."""
        return self._load(AutoModelForSequenceClassification)

    @cached_property
    def token_classifier(self) -> PreTrainedModel:
        """The model with the head of a token classifier."""
        return self._load(AutoModelForTokenClassification)

    @cached_property
    def lm(self) -> PreTrainedModel:
        """The model with its language-model head."""
        return self._load(AutoModelForCausalLM)

    def release(self) -> None:
        """Drops the weights that were loaded."""
        for name in MODELS:
            self.__dict__.pop(name, None)

    @property
    def parameters(self) -> int:
        """How many numbers the tensors of the checkpoint hold."""
        return sum(self._sizes)

    @property
    def largest(self) -> int:
        """How many the largest of them holds."""
        return max(self._sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        sizes = []
        for path in self.files:
            if path.suffix == ".bin":
                sizes += [tensor.numel() for tensor in _pickled(path).values()]
                continue
            with _opened(path) as file:
                names = set(file.keys())
                sizes += [math.prod(file.get_slice(tensor).get_shape()) for tensor in names]
            if lost := {name for name, file in self._tensor_files.items() if file == path.name} - names:
                raise SafetensorError(f"{path} lacks {min(lost)}, which the index says it holds")
        return sizes

    @property
    def padding(self) -> int:
        """The id that pads."""
        return self.tokenizer.pad_token_id or 0

    def tensor(self, name: str, rows: torch.Tensor | slice | None = None) -> torch.Tensor:
        """One tensor of the checkpoint, or these rows of it, in fp32."""
        found = self._mapped(name)
        return (found if rows is None else found[rows]).float()

    def _mapped(self, name: str) -> torch.Tensor:
        """One tensor of the checkpoint, as its file has it."""
        if not self.has(name):
            raise ValueError(f"the checkpoint has no {name}: another preset reads its head")
        origin = self._origin(name)
        path = self.folder / self._tensor_files[origin]
        if path.suffix == ".bin":
            found = _pickled(path)[origin]
        else:
            with _opened(path) as file:
                found = file.get_tensor(origin)
        return self.conversion.parts(self.config, name, found) if self.conversion else found

    def _origin(self, name: str) -> str:
        """The name in the files."""
        return self.conversion.origin(name) if self.conversion else name

    def pieces(self, name: str, turned: bool, shape: tuple[int, ...], limit: int) -> Iterator[torch.Tensor]:
        """A tensor of the checkpoint, or its transpose, in rows that hold some `limit` elements together."""
        rows = max(1, limit // shape[-1])
        for start in range(0, math.prod(shape[:-1]), rows):
            tensor = self._mapped(name)  # anew: pages of a file that were read stay in memory while it is mapped
            tensor = tensor.transpose(-1, -2) if turned else tensor
            if tuple(tensor.shape) != shape:
                raise ValueError(f"{name} has the shape {list(tensor.shape)}; the graph takes {list(shape)}")
            yield tensor.reshape(-1, shape[-1])[start : start + rows]

    @property
    def files(self) -> list[Path]:
        """The files that hold tensors."""
        return [self.folder / name for name in sorted(set(self._tensor_files.values()))]

    def has(self, name: str) -> bool:
        """Whether the checkpoint holds a tensor of this name."""
        return self._origin(name) in self._tensor_files

    def linear(self, name: str) -> nn.Linear:
        """The linear layer whose tensors are `name.weight` and, where it exists, `name.bias`."""
        weight = self.tensor(f"{name}.weight")
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=self.has(f"{name}.bias"))
        layer.weight.data = weight
        if self.streamed and stream.is_large(weight):
            layer.weight.origin = f"{name}.weight"
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
        return Tokenizer.from_str(self.tokenizer_json)

    @cached_property
    def tokenizer_json(self) -> str:
        """The tokenizer's file, where transformers makes of it what it says; else what transformers makes of it."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            kind = type(self.tokenizer).__name__
            raise ValueError(f"{kind} is written in Python; a tokenizer that has a tokenizer.json is needed")
        path = self.folder / "tokenizer.json"
        loaded = _bare(backend.to_str())
        if path.exists():
            text = path.read_text(encoding="utf-8")
            given = json.loads(Tokenizer.from_str(text).to_str())
            if given == loaded:
                return text
        return json.dumps(loaded, ensure_ascii=False, indent=2)

    @cached_property
    def _tensor_files(self) -> dict[str, str]:
        for name in ("model.safetensors", "pytorch_model.bin"):
            index, path = self.folder / f"{name}.index.json", self.folder / name
            if index.exists():
                files = _object(index).get("weight_map")
                if not isinstance(files, dict):
                    raise ValueError(f"{index}: weight_map: expected the file of each tensor, found {files!r}")
                return files
            if path.suffix == ".bin" and path.exists():
                return dict.fromkeys(_pickled(path), name)
            if path.exists():
                with _opened(path) as file:
                    return dict.fromkeys(file.keys(), name)
        raise ValueError(f"{self.folder} has neither model.safetensors nor pytorch_model.bin")


@lru_cache(maxsize=1)
def _pickled(path: Path) -> dict[str, torch.Tensor]:
    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except OSError:
        raise
    except Exception as error:  # of any class
        raise UnpicklingError(f"{path}: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A file of safetensors, whose errors say which file it is."""
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise SafetensorError(f"{path}: {error}") from error


@contextmanager
def _built_of(path: Path) -> Iterator[None]:
    """Whatever transformers raises here is what it says of values in this file."""
    try:
        yield
    except Exception as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise ValueError(f"{path}: transformers takes no such model: {kind}{error}") from error


def _object(path: Path) -> dict[str, Any]:
    """What a file of JSON says."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path}: expected an object, found {found!r}")
    return found


def _bare(tokenizer: str) -> dict[str, Any]:
    """A tokenizer but for how texts are cut and padded, which a folder's file need not agree with."""
    return json.loads(tokenizer) | {"truncation": None, "padding": None}
