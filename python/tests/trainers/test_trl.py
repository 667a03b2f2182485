"""The reward functions under TRL's own ``GRPOTrainer``, and the loop of its ``AsyncGRPO``."""

from __future__ import annotations

import asyncio
import math
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import assay
import pytest
from assay.adapters import trl

pytest.importorskip("trl")

from datasets import Dataset
from tiny import policy, save, tokenizer
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 3
PROMPTS = ["one", "two", "three", "broken"]
CONFIG = {
    "version": 1,
    "data": {"reference": "answer"},
    "reward": [
        {"name": "even", "verifier": "even"},
        {"name": "brief", "verifier": "length", "weight": 0.5, "config": {"max": 4}},
    ],
}


@assay.verifier
def even(sample: assay.Sample) -> float:
    """Right for every other completion; cannot judge what is broken."""
    if sample.meta["kind"] == "broken":
        raise OSError("the judge is down")
    return float(len(sample.completion.encode()) % 2 == 0)


def trained(folder: Path, functions: Any, steps: int = STEPS, **settings: Any) -> GRPOTrainer:
    """A trainer after some steps, each with every prompt four times."""
    rows = {"prompt": PROMPTS, "kind": PROMPTS, "answer": ["1"] * 4, "other": [None] * 4}
    arguments = GRPOConfig(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        report_to=[],
        max_steps=steps,
        logging_steps=1,
        save_strategy="no",
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        num_generations=4,
        max_completion_length=8,
        disable_tqdm=True,
        seed=7,
        **settings,
    )
    trainer = GRPOTrainer(
        model=policy(),
        processing_class=tokenizer(),
        reward_funcs=functions,
        args=arguments,
        train_dataset=Dataset.from_dict(rows),
    )
    trainer.train()
    return trainer


def logged(trainer: GRPOTrainer, name: str) -> list[float]:
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def test_two_reward_columns_are_weighed_and_logged_by_the_trainer(tmp_path: Path) -> None:
    functions = trl.reward_functions(CONFIG, verifiers=[even], cache=False, max_fault_rate=1.0)
    weights = [function.weight for function in functions]
    assert weights == [1.0, 0.5]

    trainer = trained(tmp_path, functions, reward_weights=weights)

    for name in ("even", "brief"):
        means = logged(trainer, f"rewards/{name}/mean")
        assert len(means) == STEPS
        assert all(0.0 <= mean <= 1.0 for mean in means)
        assert len(logged(trainer, f"assay/reward/{name}")) == STEPS
    means = logged(trainer, "rewards/even/mean")
    assert logged(trainer, "assay/reward/even") == pytest.approx(means, abs=1e-6)
    totals = [
        even_mean + 0.5 * brief_mean
        for even_mean, brief_mean in zip(
            logged(trainer, "rewards/even/mean"), logged(trainer, "rewards/brief/mean"), strict=True
        )
    ]
    assert logged(trainer, "reward") == pytest.approx(totals, abs=1e-5)
    assert logged(trainer, "assay/fault_rate") == [0.25] * STEPS
    assert len(logged(trainer, "assay/latency_ms")) == STEPS


def test_what_cannot_be_judged_moves_nothing(tmp_path: Path) -> None:
    functions = trl.reward_functions(CONFIG, verifiers=[even], cache=False, max_fault_rate=1.0)
    trainer = trained(tmp_path, functions)
    logs = trainer._logs
    rows = list(
        zip(
            logs["prompt"],
            logs["rewards"]["even"],
            logs["rewards"]["brief"],
            logs["advantages"],
            logs["extra"]["assay"],
            strict=True,
        )
    )
    assert {row[0] for row in rows} == set(PROMPTS)
    for prompt, even_reward, brief_reward, advantage, outcome in rows:
        is_broken = prompt == "broken"
        assert math.isnan(even_reward) == is_broken
        assert math.isnan(brief_reward) == is_broken, "half a reward would pass for the whole"
        assert outcome.startswith("failed: Internal") == is_broken
        if is_broken:
            assert advantage == 0.0
    assert any(row[3] != 0.0 for row in rows)


@pytest.mark.parametrize("is_async", [False, True])
def test_the_combined_reward_is_one_column(tmp_path: Path, is_async: bool) -> None:
    function = trl.reward_function(
        CONFIG, verifiers=[even], cache=False, max_fault_rate=1.0, is_async=is_async
    )
    trainer = trained(tmp_path, function)
    means = logged(trainer, "rewards/assay/mean")
    assert len(means) == STEPS
    assert logged(trainer, "reward") == pytest.approx(means, abs=1e-6)
    assert all(0.0 < mean <= 1.5 for mean in means)


def test_too_many_faults_end_the_training(tmp_path: Path) -> None:
    function = trl.reward_function(CONFIG, verifiers=[even], cache=False, max_fault_rate=0.2)
    with pytest.raises(assay.TooManyFaults, match="OSError: the judge is down"):
        trained(tmp_path, function, steps=10)


def test_a_fault_may_be_an_error_or_the_mean_of_its_group(tmp_path: Path) -> None:
    options: dict[str, Any] = {"verifiers": [even], "cache": False, "max_fault_rate": 1.0}
    with pytest.raises(assay.Unscored, match="the judge is down"):
        trained(tmp_path, trl.reward_function(CONFIG, on_fault="raise", **options))
    trainer = trained(tmp_path, trl.reward_function(CONFIG, on_fault="mean_of_group", **options))
    rewards = list(trainer._logs["rewards"]["assay"])
    broken = [
        reward
        for prompt, reward in zip(trainer._logs["prompt"], rewards, strict=True)
        if prompt == "broken"
    ]
    assert broken and all(math.isfinite(reward) for reward in broken)


def scored_group(functions: list[trl.RewardFunction]) -> list[Any]:
    """A group scored by the loop of ``AsyncGRPO``, whose functions came out of a pickle."""
    worker = pytest.importorskip("trl.experimental.async_grpo.async_rollout_worker")
    shipped = pickle.loads(pickle.dumps(functions))
    sequences = SimpleNamespace(input_ids=[1], completion_mask=[1], old_log_probs=[0.0])
    group = SimpleNamespace(
        prompts=["p"] * 4,
        completions=["aa", "a", "aaaaaaaaaaaa", "broken"],
        completions_ids=[[1]] * 4,
        completions_sequences=[[sequences]] * 4,
        reward_kwargs={"kind": ["one", "one", "one", "broken"], "answer": ["1"] * 4},
        tool_call_counts=[0] * 4,
        tool_failure_counts=[0] * 4,
        model_version=0,
        group_id=0,
    )
    loop: Any = next(
        kind for kind in vars(worker).values() if isinstance(kind, type) and "_score_group" in vars(kind)
    )
    names = [function.__name__ for function in shipped]
    self = SimpleNamespace(
        reward_funcs=shipped,
        reward_func_names=names,
        _env_reward_types=[],
        _provides_rollout_reward=False,
    )
    scored: list[Any] = asyncio.run(loop._score_group(self, group))
    return scored


@pytest.mark.parametrize("make", [trl.reward_functions, lambda *a, **k: [trl.reward_function(*a, **k)]])
def test_async_grpo_masks_what_cannot_be_judged(make: Callable[..., Any]) -> None:
    samples = scored_group(make(CONFIG, verifiers=[even], cache=False, max_fault_rate=1.0))
    advantages = [sample.advantage for sample in samples]
    assert advantages[3] == 0.0
    assert math.isnan(samples[3].metrics["reward"])
    assert advantages[0] > 0.0 > advantages[2] or advantages[0] > 0.0 > advantages[1]
    assert sum(advantages[:3]) == pytest.approx(0.0, abs=1e-6)


def test_the_documented_script_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[3] / "docs" / "trainers" / "trl.md"
    script = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    small = 'output_dir="out", use_cpu=True, bf16=False, report_to=[], logging_steps=1'
    save(tmp_path / "model")
    for theirs, ours in (("Qwen/Qwen3-0.6B", str(tmp_path / "model")), ('output_dir="out"', small)):
        assert theirs in script
        script = script.replace(theirs, ours)
    monkeypatch.chdir(tmp_path)
    defined: dict[str, Any] = {}
    exec(compile(script, page.name, "exec"), defined)
    trainer = defined["trainer"]
    assert trainer.state.global_step == STEPS
    assert logged(trainer, "rewards/correct/mean") == [0.0] * STEPS
    assert len(logged(trainer, "rewards/brief/mean")) == STEPS
