"""The reward functions under TRL's trainers, its command, the loop of its ``AsyncGRPO``, and Axolotl."""

from __future__ import annotations

import asyncio
import json
import math
import os
import pickle
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import assay
import pytest
from assay.adapters import trl

pytest.importorskip("trl")

import yaml
from datasets import Dataset
from tiny import policy, save, tokenizer
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = tuple(int(part) for part in metadata.version("trl").split(".")[:2])
# What came to TRL since the oldest version that is tested.
AWAITS, LOGS, MASKS = VERSION >= (0, 27), VERSION >= (1, 0), VERSION >= (1, 6)
PAGES = Path(__file__).parents[3] / "docs" / "trainers"
STEPS = 3
OPTIONS = (
    "--logging_steps 1 --save_steps 3 --use_cpu --bf16 no --report_to none "
    "--per_device_train_batch_size 8 --num_generations 4 --max_completion_length 8"
)
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


def trained(
    folder: Path, functions: Any, steps: int = STEPS, kind: Any = GRPOTrainer, **settings: Any
) -> Any:
    """A trainer after some steps, each with every prompt four times."""
    rows = {"prompt": PROMPTS, "kind": PROMPTS, "answer": ["1"] * 4, "other": [None] * 4}
    arguments = (GRPOConfig if kind is GRPOTrainer else RLOOConfig)(
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
    trainer = kind(
        model=policy(),
        processing_class=tokenizer(),
        reward_funcs=functions,
        args=arguments,
        train_dataset=Dataset.from_dict(rows),
    )
    trainer.train()
    return trainer


def logged(trainer: Any, name: str) -> list[float]:
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
    totals = [
        even_mean + 0.5 * brief_mean
        for even_mean, brief_mean in zip(
            logged(trainer, "rewards/even/mean"), logged(trainer, "rewards/brief/mean"), strict=True
        )
    ]
    assert logged(trainer, "reward") == pytest.approx(totals, abs=1e-5)
    if not LOGS:
        return
    assert logged(trainer, "assay/fault_rate") == [0.25] * STEPS
    assert (
        len(logged(trainer, "assay/latency_ms")) == len(logged(trainer, "assay/reward/brief")) == STEPS
    )
    means = logged(trainer, "rewards/even/mean")
    assert logged(trainer, "assay/reward/even") == pytest.approx(means, abs=1e-6)


def test_what_cannot_be_judged_moves_nothing(tmp_path: Path) -> None:
    functions = trl.reward_functions(CONFIG, verifiers=[even], cache=False, max_fault_rate=1.0)
    trainer = trained(tmp_path, functions)
    logs = trainer._logs
    columns = [logs["prompt"], logs["rewards"]["even"], logs["rewards"]["brief"], logs["advantages"]]
    rows = list(zip(*columns, strict=True))
    assert {row[0] for row in rows} == set(PROMPTS)
    for prompt, even_reward, brief_reward, advantage in rows:
        is_broken = prompt == "broken"
        assert math.isnan(even_reward) == (is_broken and MASKS)
        assert math.isnan(brief_reward) == (is_broken and MASKS), (
            "half a reward would pass for the whole"
        )
        assert advantage == 0.0 or not is_broken
    assert any(row[3] != 0.0 for row in rows)
    for prompt, outcome in zip(logs["prompt"], logs["extra"]["assay"] if LOGS else (), strict=LOGS):
        assert outcome.startswith("failed: Internal") == (prompt == "broken")


@assay.verifier
def fickle(sample: assay.Sample) -> float:
    """Cannot judge every third completion, by the sum of its bytes."""
    letters = sum(sample.completion.encode())
    if letters % 3 == 0:
        raise OSError("the judge is down")
    return float(1 + letters % 2)


@pytest.mark.parametrize("kind", [GRPOTrainer, RLOOTrainer])
@pytest.mark.parametrize("is_async", [False, *([True] if AWAITS else [])])
@pytest.mark.parametrize("is_split", [False, True])
def test_a_fault_in_a_group_is_no_zero(
    tmp_path: Path, kind: Any, is_async: bool, is_split: bool
) -> None:
    rewards = [{"name": "fickle", "verifier": "fickle"}, CONFIG["reward"][1]]
    make: Any = trl.reward_functions if is_split else trl.reward_function
    functions = make(
        {**CONFIG, "reward": rewards},
        verifiers=[fickle],
        cache=False,
        max_fault_rate=1.0,
        is_async=is_async,
    )
    named: dict[str, Any] = {"reward_weights": [one.weight for one in functions]} if is_split else {}
    named |= {"scale_rewards": "none"} if kind is GRPOTrainer else {"beta": 0.0}

    trainer = trained(tmp_path, functions, kind=kind, **named)

    logs = trainer._logs
    columns = [list(one) for one in logs["rewards"].values()]
    weights = [1.0, 0.5] if is_split else [1.0]
    totals = [
        sum(w * part for w, part in zip(weights, row, strict=True)) for row in zip(*columns, strict=True)
    ]
    broken = [sum(text.encode()) % 3 == 0 for text in logs["completion"]]
    advantages = list(logs["advantages"])
    mixed = 0
    for start in range(0, len(totals), 4):
        group = range(start, start + 4)
        judged = [totals[at] for at in group if not broken[at]]
        for at in group:
            if broken[at]:
                assert advantages[at] == pytest.approx(0.0, abs=1e-6)
            elif kind is GRPOTrainer:
                assert advantages[at] == pytest.approx(totals[at] - sum(judged) / len(judged), abs=1e-5)
        mixed += 2 <= len(judged) < 4 and len(set(judged)) > 1
    assert mixed, "no group had faults and different rewards"


@pytest.mark.skipif(AWAITS, reason="a version that awaits reward functions")
def test_a_version_that_awaits_nothing_does_not_train_with_a_coroutine(tmp_path: Path) -> None:
    function = trl.reward_function(CONFIG, verifiers=[even], cache=False, is_async=True)
    with pytest.raises(TypeError, match="coroutine"):
        trained(tmp_path, function)


def test_the_combined_reward_is_one_column(tmp_path: Path) -> None:
    function = trl.reward_function(CONFIG, verifiers=[even], cache=False, max_fault_rate=1.0)
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
        prompt_ids=[[1]] * 4,
        completions_logprobs=[[0.0]] * 4,
        tool_mask=[[1]] * 4,
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


def blocks(page: str, language: str) -> list[str]:
    """The code of a page."""
    text = (PAGES / page).read_text(encoding="utf-8")
    return [part.split("```")[0] for part in text.split(f"```{language}\n")[1:]]


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """A text with what does for a test in the place of what people write."""
    for theirs, ours in pairs:
        assert theirs in text
        text = text.replace(theirs, ours)
    return text


@pytest.mark.parametrize("function", ["reward", *(["reward_async"] if AWAITS else [])])
def test_the_command_takes_a_name(tmp_path: Path, function: str) -> None:
    save(tmp_path / "model")
    letter = '[[reward]]\nname = "letter"\nverifier = "regex"\nconfig = { pattern = "[A-z]" }\n'
    (tmp_path / "assay.toml").write_text(blocks("trl.md", "toml")[0] + letter)
    rows = [{"prompt": prompt, "answer": "1"} for prompt in PROMPTS]
    (tmp_path / "data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    command = replaced(
        blocks("trl.md", "sh")[0],
        ("Qwen/Qwen3-0.6B", "model"),
        ("trl.reward ", f"trl.{function} "),
        ("--max_steps 3", f"--max_steps 3 {OPTIONS}"),
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    state = json.loads((tmp_path / "out" / f"checkpoint-{STEPS}" / "trainer_state.json").read_text())
    entries = [entry for entry in state["log_history"] if f"rewards/{function}/mean" in entry]
    assert len(entries) == STEPS
    assert all(0.0 < entry["reward"] <= 2.0 for entry in entries)
    assert all("assay/reward/letter" in entry for entry in entries) == LOGS


def test_axolotl_takes_the_same_name() -> None:
    grpo = pytest.importorskip("axolotl.core.trainers.grpo")
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.trl import TRLConfig

    written = yaml.safe_load(blocks("axolotl.md", "yaml")[0])
    TRLConfig.model_validate(written["trl"], strict=True)
    assert grpo.GRPOStrategy.set_trainer_args(DictDefault(written)) == [[trl.reward]]
    assert grpo.GRPOStrategy.get_reward_func("assay.adapters.trl.reward_async") is trl.reward_async


def run(page: str, code: str, *pairs: tuple[str, str]) -> GRPOTrainer:
    """The trainer that the Python of a page made and ran."""
    small = 'output_dir="out", use_cpu=True, bf16=False, report_to=[], logging_steps=1, '
    small += "max_completion_length=8"
    defined: dict[str, Any] = {}
    exec(compile(replaced(code, ('output_dir="out"', small), *pairs), page, "exec"), defined)
    trainer: GRPOTrainer = defined["trainer"]
    assert trainer.state.global_step == STEPS
    return trainer


def test_the_documented_script_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    trainer = run("trl.md", blocks("trl.md", "python")[0], ("Qwen/Qwen3-0.6B", str(tmp_path / "model")))
    assert logged(trainer, "rewards/correct/mean") == [0.0] * STEPS
    assert len(logged(trainer, "rewards/brief/mean")) == STEPS


def test_the_script_for_unsloth_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "assay.toml").write_text(blocks("trl.md", "toml")[0])
    monkeypatch.chdir(tmp_path)
    model = SimpleNamespace(
        from_pretrained=lambda name, **_: (policy(), tokenizer()), get_peft_model=lambda it, **_: it
    )
    monkeypatch.setitem(sys.modules, "unsloth", SimpleNamespace(FastLanguageModel=model))
    trainer = run("unsloth.md", blocks("unsloth.md", "python")[0])
    assert logged(trainer, "rewards/reward/mean") == [0.0] * STEPS
