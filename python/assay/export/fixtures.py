"""`python -m assay.export.fixtures OUT`: makes every tiny model folder of this repository."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

from .__main__ import report
from .checkpoint import Checkpoint
from .compare import compare
from .export import STREAMED, Options, export
from .presets import PRESETS
from .tiny import internlm, models, tokenizers
from .tiny.models import WIDTH, Extra

MATH_RM = Extra({"score.0": (WIDTH, WIDTH), "score.2": (1, WIDTH)})
MATH_PRM = Extra({"score.0": (WIDTH, WIDTH), "score.2": (2, WIDTH)})
ARMORM = Extra(
    {"gating.layers.0": (24, WIDTH), "gating.layers.1": (19, 24)},
    {"regression_layer.weight": (19, WIDTH), "reward_transform_matrix": (19, 19)},
)
GRM = Extra({"v_head.summary.0": (64, WIDTH), "v_head.summary.2": (1, 64)})
PAIRRM = Extra({"head_layer.1": (WIDTH, 2 * WIDTH), "head_layer.4": (2, WIDTH)})

SOURCE = "random weights, by python -m assay_export.fixtures"
"""As the committed manifests have it, from when the package was called so."""

CRITIQUES = (
    "The sum is right. [RESULT] 5",
    "All steps are sound, the answer is right. [RESULT] 4",
    "The answer is right, but short – gut. [RESULT] 3",
)
STEP_CRITIQUES = (
    "Step 1: correct.",
    "Step 1: correct. Step 2: correct. Step 3: Incorrect, gives 4 to Ann. Step 4: incorrect.",
    "Step 1: correct – gut.",
)


@dataclass(frozen=True)
class Fixture:
    """A tiny model: its preset, its architecture, and what its checkpoint holds."""

    preset: str
    architecture: str
    tokenizer: Callable[[], Any]
    auto: type = AutoModelForSequenceClassification
    extra: Extra = Extra()
    settings: dict[str, Any] = field(default_factory=dict)
    precision: str = "fp32"
    kv: bool = False
    reference: bool = False
    lessons: tuple[str, ...] = ()

    def make(self, name: str, out: Path) -> None:
        """Makes the checkpoints in a temporary folder, and the model folder from them."""
        with tempfile.TemporaryDirectory() as place:
            checkpoints = [self._checkpoint(Path(place) / str(seed), seed) for seed in range(1 + self.reference)]
            shutil.rmtree(out, ignore_errors=True)
            options = Options(
                name,
                self.precision,
                self.kv,
                max_tokens=512,
                source=SOURCE,
                licence="Apache-2.0",
            )
            report(name, export(checkpoints, out, PRESETS[self.preset], options), options.limit)

    def _checkpoint(self, folder: Path, seed: int) -> Checkpoint:
        settings = dict(self.settings)
        if self.auto is AutoModelForSequenceClassification:
            settings.setdefault("num_labels", 1)
        if self.architecture == "internlm2":
            internlm.make(folder, self.tokenizer(), seed)
        else:
            models.make(folder, self.auto, self.architecture, self.tokenizer(), self.extra, seed, **settings)
        checkpoint = Checkpoint(folder, streamed=self.precision in STREAMED or None)
        if self.lessons:
            models.teach(checkpoint, PRESETS[self.preset].encode, self.lessons)
            return Checkpoint(folder)
        return checkpoint


def _encoder(architecture: str, tokenizer: Callable[[], Any], **settings: Any) -> Fixture:
    return Fixture("sequence-classifier", architecture, tokenizer, settings=settings)


LM = AutoModelForCausalLM
WIDE = {"intermediate_size": 96}
"""Matrices of the feed-forward layers that are large enough to be streamed."""
FIXTURES = {
    "arch-llama": Fixture("outcome", "llama", tokenizers.llama3),
    "arch-qwen2": Fixture("outcome", "qwen2", tokenizers.qwen),
    "arch-qwen3": Fixture("outcome", "qwen3", tokenizers.qwen),
    "arch-gemma2": Fixture("outcome", "gemma2", tokenizers.gemma),
    "arch-mistral": Fixture("outcome", "mistral", tokenizers.mistral),
    "arch-bert": _encoder("bert", tokenizers.bert),
    "arch-roberta": _encoder("roberta", tokenizers.roberta, num_labels=3),
    "arch-deberta-v2": _encoder("deberta-v2", tokenizers.deberta),
    "arch-modernbert": _encoder("modernbert", tokenizers.modernbert),
    "skywork-reward": Fixture("skywork-reward", "llama", tokenizers.llama3),
    "skywork-reward-fp16": Fixture(
        "skywork-reward", "llama", tokenizers.llama3, settings={"initializer_range": 0.08}, precision="fp16"
    ),
    "skywork-reward-kv": Fixture("skywork-reward", "qwen3", tokenizers.qwen, kv=True),
    "qwen-rm": Fixture("qwen2.5-math-rm", "qwen2", tokenizers.qwen, AutoModel, MATH_RM),
    "qwen-prm": Fixture("qwen2.5-math-prm", "qwen2", tokenizers.qwen, AutoModel, MATH_PRM),
    "qwen-prm-int8": Fixture("qwen2.5-math-prm", "qwen2", tokenizers.qwen, AutoModel, MATH_PRM, precision="int8"),
    "math-shepherd": Fixture("math-shepherd", "mistral", tokenizers.mistral, LM),
    "skywork-o1-prm": Fixture(
        "skywork-o1-prm", "qwen2", tokenizers.qwen_with_bos, AutoModel, Extra({"v_head.summary": (1, WIDTH)})
    ),
    "rlhflow-prm": Fixture("rlhflow-prm", "llama", tokenizers.llama3, LM),
    "trl-prm": Fixture("trl-prm", "qwen3", tokenizers.qwen, AutoModelForTokenClassification),
    "step-critique": Fixture("step-critique", "qwen3", tokenizers.qwen, LM, lessons=STEP_CRITIQUES),
    "armorm": Fixture("armorm", "llama", tokenizers.llama3, AutoModel, ARMORM),
    "urm": Fixture("urm", "llama", tokenizers.llama3, AutoModel, Extra({"score": (10, WIDTH)})),
    "grm": Fixture("grm", "gemma2", tokenizers.gemma, AutoModel, GRM, {"initializer_range": 0.1}),
    "nemotron": Fixture("nemotron", "llama", tokenizers.llama3, LM),
    "inf-orm": Fixture("inf-orm", "llama", tokenizers.llama3, AutoModel, MATH_RM),
    "internlm2-reward": Fixture("internlm2-reward", "internlm2", tokenizers.qwen),
    "eurus-rm": Fixture(
        "eurus-rm", "mistral", tokenizers.mistral, AutoModel, Extra(matrices={"regression_head.weight": (1, WIDTH)})
    ),
    "qwen3-reranker": Fixture("qwen3-reranker", "qwen3", tokenizers.qwen, LM),
    "bge-reranker-gemma": Fixture("bge-reranker-gemma", "gemma", tokenizers.gemma, LM),
    "mxbai-rerank-v2": Fixture("mxbai-rerank-v2", "qwen2", tokenizers.qwen, LM),
    "skywork-reward-int4": Fixture(
        "skywork-reward", "qwen3", tokenizers.qwen, settings=WIDE, precision="int4_blocks"
    ),
    "skywork-reward-bf16": Fixture("skywork-reward", "qwen3", tokenizers.qwen, settings=WIDE, precision="bf16"),
    "bart": _encoder("bart", tokenizers.roberta, num_labels=3),
    "t5": _encoder("t5", tokenizers.roberta, num_labels=3),
    "pairrm": Fixture("pairrm", "deberta-v2", tokenizers.pairrm, AutoModel, PAIRRM),
    "cross-encoder": _encoder("bert", tokenizers.bert, num_labels=2),
    "sentence-embedding": Fixture("sentence-embedding", "bert", tokenizers.bert, AutoModel),
    "token-embedding": Fixture("token-embedding", "roberta", tokenizers.roberta, AutoModel),
    "yes-no-judge": Fixture("yes-no-judge", "qwen3", tokenizers.qwen, LM, kv=True),
    "criterion-judge": Fixture("criterion-judge", "qwen3", tokenizers.qwen, LM),
    "critique-judge": Fixture("critique-judge", "llama", tokenizers.llama3, LM, lessons=CRITIQUES),
    "implicit-prm": Fixture("implicit-prm", "qwen2", tokenizers.qwen, LM, reference=True),
    "log-probability": Fixture("log-probability", "qwen2", tokenizers.qwen, LM),
    "reference-probability": Fixture("reference-probability", "qwen3", tokenizers.qwen, LM),
}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="assay.export.fixtures", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--against", type=Path, help="folders that these must equal")
    given = parser.parse_args()
    torch.set_num_threads(1)
    different = []
    for name in given.names or FIXTURES:
        FIXTURES[name].make(name, given.out / name)
        if given.against:
            different += compare(given.out / name, given.against / name)
    if different:
        raise SystemExit("\n".join(different))


if __name__ == "__main__":
    # The order of sets of texts goes into the graph of ModernBERT.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "assay.export.fixtures", *sys.argv[1:]])
    main()
