"""Records trainings: what TRL's `GRPOTrainer` itself does in 50 steps, number by number.

    python benches/parity/trl_training.py

It needs the environment of `requirements-trl.txt`. The models are small, the processor is the device, the
precision is single. See README.md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from files import write
from generate import FOLDER, LIBRARIES
from training_models import reward, tasks, write_model
from transformers import PreTrainedTokenizerFast, PrinterCallback, TrainerCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOConfig, GRPOTrainer

Record = dict[str, Any]

STEPS = 50
DIGITS = 9
"""Significant digits of a number in a file: single precision has no more."""
LOGGED = (
    "loss",
    "grad_norm",
    "learning_rate",
    "reward",
    "reward_std",
    "frac_reward_zero_std",
    "entropy",
    "kl",
    "clip_ratio/region_mean",
    "completions/mean_length",
    "completions/clipped_ratio",
)
COMMON: dict[str, Any] = {
    "max_steps": STEPS,
    "use_cpu": True,
    "bf16": False,
    "gradient_checkpointing": False,
    "save_strategy": "no",
    "report_to": "none",
    "logging_steps": 1,
    "disable_tqdm": True,
    "model_init_kwargs": {"dtype": "float32"},
}
"""What has no bearing on the numbers, but for the precision: TRL's default is half."""
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    # All that is not given here has the default of TRL 1.16: the loss is `dapo`.
    "dapo": (
        "llama",
        {
            "num_generations": 4,
            "per_device_train_batch_size": 32,
            "max_completion_length": 24,
            "learning_rate": 3e-3,
            "lr_scheduler_type": "linear",
            "warmup_steps": 5,
            "weight_decay": 0.1,
        },
    ),
    # A reference, and two updates with each batch of completions: ratios are not 1, some are clipped.
    "grpo_kl": (
        "qwen3",
        {
            "loss_type": "grpo",
            "beta": 0.04,
            "num_iterations": 2,
            "temperature": 0.9,
            "num_generations": 8,
            "per_device_train_batch_size": 24,
            "max_completion_length": 16,
            "learning_rate": 2e-3,
            "lr_scheduler_type": "cosine",
            "warmup_steps": 3,
            "adam_beta2": 0.99,
            "max_grad_norm": 2.0,
        },
    ),
    # Gradients of two batches are added; completions that were cut count for the rewards alone.
    "dr_grpo": (
        "qwen2",
        {
            "loss_type": "dr_grpo",
            "scale_rewards": "none",
            "mask_truncated_completions": True,
            "gradient_accumulation_steps": 2,
            "num_generations": 4,
            "per_device_train_batch_size": 8,
            "max_completion_length": 20,
            "learning_rate": 1e-3,
            "lr_scheduler_type": "constant_with_warmup",
            "warmup_steps": 10,
            "weight_decay": 0.05,
            "max_grad_norm": 0.1,
        },
    ),
    # Two updates, each with two batches of the four that the completions were divided into.
    "bnpo_entropy": (
        "llama",
        {
            "loss_type": "bnpo",
            "scale_rewards": "batch",
            "entropy_coef": 0.01,
            "epsilon_high": 0.28,
            "gradient_accumulation_steps": 2,
            "steps_per_generation": 4,
            "num_generations": 4,
            "per_device_train_batch_size": 8,
            "max_completion_length": 12,
            "learning_rate": 1e-3,
            "lr_scheduler_type": "constant",
            "adam_beta1": 0.8,
            "adam_epsilon": 1e-6,
            "max_grad_norm": 0.5,
        },
    ),
}
"""The model and the configuration of each training."""


class RecordingTrainer(GRPOTrainer):
    """TRL's trainer, which also writes down what goes by. It changes no number."""

    def __init__(self, *rest: Any, **more: Any) -> None:
        """Nothing is recorded yet."""
        super().__init__(*rest, **more)
        self.generations: list[Record] = []
        self.updates: list[Record] = []
        self.batches: list[Record] = []

    def _generate(self, prompts: list[Any]) -> Any:
        made = super()._generate(prompts)
        first = slice(None, None, self.num_generations)
        self.generations.append({"prompts": prompts[first], "prompt_ids": made[0][first], "completions": made[1]})
        return made

    def _calculate_rewards(self, *rest: Any) -> torch.Tensor:
        rewards = super()._calculate_rewards(*rest)
        self.generations[-1]["rewards"] = [number(value) for value in rewards[:, 0].tolist()]
        return rewards

    def _generate_and_score_completions(self, inputs: list[Record]) -> Record:
        made = super()._generate_and_score_completions(inputs)
        self.generations[-1]["advantages"] = [number(value) for value in made["advantages"].tolist()]
        # Goes through the shuffling and the splitting with its completion.
        made["row"] = torch.arange(len(inputs))
        return made

    def _compute_loss(self, model: Any, inputs: Record) -> torch.Tensor:
        loss = super()._compute_loss(model, inputs)
        self.batches.append({"rows": inputs["row"].tolist(), "loss": number(loss.item())})
        return loss

    def _clip_grad_norm(self, model: Any) -> torch.Tensor:
        norm = super()._clip_grad_norm(model)
        self.updates.append({"generation": len(self.generations) - 1, "batches": self.batches})
        self.batches = []
        return norm


class Logged(TrainerCallback):
    """Keeps what is logged, before anything is rounded."""

    def __init__(self) -> None:
        """Nothing is logged yet."""
        self.rows: list[Record] = []

    def on_log(self, *rest: Any, logs: Record, **more: Any) -> None:
        """Keeps one row."""
        if "loss" in logs:
            self.rows.append({name: number(logs[name]) for name in LOGGED if name in logs})


def main() -> None:
    """Writes the models and the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=list(SETTINGS), help="which trainings; by default all")
    parser.add_argument("--folder", type=Path, default=FOLDER / "training")
    arguments = parser.parse_args()
    version = importlib.metadata.version("trl")
    if version != LIBRARIES["trl"]:
        raise SystemExit(f"trl {version} is installed, not {LIBRARIES['trl']}")
    torch.set_num_threads(1)
    logging.getLogger("trl").setLevel(logging.ERROR)
    disable_progress_bar()
    for name in arguments.settings:
        kind, settings = SETTINGS[name]
        folder = arguments.folder / kind
        write_model(kind, folder)
        given = {"library": f"trl {version}", "model": kind, "settings": settings, "tasks": tasks()}
        value = {**given, **training(folder, settings)}
        write(arguments.folder / f"{name}.json.gz", value)


def training(folder: Path, settings: dict[str, Any]) -> Record:
    """One training: what was generated, what each update was, and the weights at the end."""
    logged = Logged()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as kept:
        trainer = RecordingTrainer(
            model=str(folder),
            reward_funcs=graded,
            args=GRPOConfig(output_dir=kept, **COMMON, **settings),
            train_dataset=Dataset.from_list(tasks()),
            # Not `AutoTokenizer`: for Qwen2 it adds a token for padding, which the model has no embedding for.
            processing_class=PreTrainedTokenizerFast.from_pretrained(folder),
            callbacks=[logged],
        )
        trainer.remove_callback(PrinterCallback)
        before = weights(trainer)
        trainer.train()
    if not len(trainer.updates) == len(logged.rows) == STEPS:
        raise SystemExit(f"{len(trainer.updates)} updates and {len(logged.rows)} rows of the log")
    for update, row in zip(trainer.updates, logged.rows, strict=True):
        update.update(row)
    tell(trainer, time.monotonic() - began)
    decay = set(trainer.get_decay_parameter_names(trainer.model))
    return {
        "generations": trainer.generations,
        "updates": trainer.updates,
        "weights": {
            name: {**checked(after, before[name]), "decays": name in decay} for name, after in weights(trainer).items()
        },
    }


def graded(completions: list[str], answer: list[str], **rest: Any) -> list[float | None]:
    """The reward function, as TRL calls it."""
    return [reward(completion, right) for completion, right in zip(completions, answer, strict=True)]


def weights(trainer: GRPOTrainer) -> dict[str, torch.Tensor]:
    """The weights, in double precision."""
    return {name: tensor.detach().double().clone() for name, tensor in trainer.model.named_parameters()}


def checked(after: torch.Tensor, before: torch.Tensor) -> Record:
    """Numbers that a tensor is known by: its norm, how far it moved, and the way, against cosines."""
    moved = (after - before).flatten()
    wave = torch.cos(torch.arange(len(moved), dtype=torch.float64))
    return {
        "norm": number(after.norm().item()),
        "moved": number(moved.norm().item()),
        "against_cosines": number(moved.dot(wave).item()),
    }


def number(value: float) -> float | None:
    """A number with as many digits as files keep, nothing if it isn't finite."""
    return float(f"{value:.{DIGITS - 1}e}") if math.isfinite(value) else None


def tell(trainer: RecordingTrainer, seconds: float) -> None:
    """Says what the training was like: whether it shows what it is meant to show."""
    logged = {name: [update[name] for update in trainer.updates if name in update] for name in LOGGED}
    clipped = sum(norm > trainer.args.max_grad_norm for norm in logged["grad_norm"])
    missing = sum(value is None for made in trainer.generations for value in made["rewards"])
    ranges = ", ".join(f"{name} {min(values):.3g} to {max(values):.3g}" for name, values in logged.items() if values)
    first, last = logged["reward"][0], logged["reward"][-1]
    print(f"{seconds:.0f} s; reward {first:.3f}, then {last:.3f}; {missing} without; {clipped} norms clipped; {ranges}")


if __name__ == "__main__":
    main()
