"""`python -m assay_export.fixtures OUT`: makes every tiny model folder of this repository."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification
from transformers.utils import logging

from .__main__ import report
from .checkpoint import Checkpoint
from .export import Options, export
from .presets import PRESETS
from .tiny import models, tokenizers
from .tiny.models import WIDTH

CLASSIFIER = AutoModelForSequenceClassification
MATH_RM = {"score.0": [WIDTH, WIDTH], "score.2": [1, WIDTH]}
MATH_PRM = {"score.0": [WIDTH, WIDTH], "score.2": [2, WIDTH]}


@dataclass(frozen=True)
class Fixture:
    """A tiny model: its preset, its architecture, and what its checkpoint holds."""

    preset: str
    architecture: str
    tokenizer: Callable[[], Any]
    auto: type = CLASSIFIER
    extra: dict[str, list[int]] | None = None
    settings: dict[str, Any] | None = None
    precision: str = "fp32"
    kv: bool = False

    def make(self, name: str, out: Path) -> None:
        """Makes the checkpoint in a temporary folder, and the model folder from it."""
        settings = self.settings or ({"num_labels": 1} if self.auto is CLASSIFIER else {})
        with tempfile.TemporaryDirectory() as folder:
            models.make(Path(folder), self.auto, self.architecture, self.tokenizer(), self.extra, **settings)
            shutil.rmtree(out, ignore_errors=True)
            options = Options(
                name,
                self.precision,
                self.kv,
                max_tokens=512,
                source="random weights, by python -m assay_export.fixtures",
                licence="Apache-2.0",
            )
            report(name, export(Checkpoint(Path(folder)), out, PRESETS[self.preset], options))


FIXTURES = {
    "arch-qwen2": Fixture("outcome", "qwen2", tokenizers.qwen),
    "qwen-prm": Fixture("qwen2.5-math-prm", "qwen2", tokenizers.qwen, AutoModel, MATH_PRM),
}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="assay_export.fixtures", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", help="only these")
    given = parser.parse_args()
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for name in given.names or FIXTURES:
        FIXTURES[name].make(name, given.out / name)


if __name__ == "__main__":
    main()
