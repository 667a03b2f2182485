"""The reward manager under verl's own reward loop, and GDPO on what it gives."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import assay
import pytest

pytest.importorskip("verl")

import numpy as np
import torch
from assay.adapters import verl_manager
from assay.adapters._adapter import Adapter
from faulty import BROKEN, RIGHT, WRONG, config, service
from omegaconf import OmegaConf
from tensordict import TensorDict
from tiny import tokenizer
from verl import DataProto
from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage
from verl.trainer.ppo.reward import load_reward_manager

PROMPT, RESPONSE = 8, 32


def rollout(*texts: str, gold: str | None = "4", prompt: Any = None, **info: Any) -> DataProto:
    """The outputs of one rollout, as the agent loop of verl gives them to a manager."""
    known = tokenizer()
    responses = torch.full((len(texts), RESPONSE), known.pad_token_id)
    mask = torch.zeros((len(texts), PROMPT + RESPONSE), dtype=torch.int64)
    mask[:, :PROMPT] = 1
    for at, text in enumerate(texts):
        ids = known(text, add_special_tokens=False)["input_ids"]
        responses[at, : len(ids)] = torch.tensor(ids, dtype=torch.int64)
        mask[at, PROMPT : PROMPT + len(ids)] = 1
    prompts = torch.zeros((len(texts), PROMPT), dtype=torch.int64)
    tensors = {"prompts": prompts, "responses": responses, "attention_mask": mask}
    talk = prompt or [{"role": "user", "content": "2 + 2 = ?"}]
    others = {
        "data_source": "sums",
        "reward_model": {"ground_truth": gold, "style": "rule"},
        "extra_info": {"index": 0, **info},
        "raw_prompt": talk,
        "__num_turns__": 2 * len(texts),
        "tool_extra_fields": {"turn_scores": []},
    }
    arrays = {}
    for name, value in others.items():
        arrays[name] = np.empty(len(texts), dtype=object)
        arrays[name][:] = [value] * len(texts)
    return DataProto(batch=TensorDict(tensors, batch_size=len(texts)), non_tensor_batch=arrays)


def trajectory(*texts: str) -> DataProto:
    """The same of several outputs with longer and longer prompts, padded as the agent loop does."""
    pad = torch.nn.utils.rnn.pad_sequence
    ids = [torch.tensor(tokenizer()(text, add_special_tokens=False)["input_ids"]) for text in texts]
    prompts = [torch.zeros(PROMPT + 10 * at, dtype=torch.int64) for at in range(len(texts))]
    whole = [torch.ones(len(one) + len(two), dtype=torch.int64) for one, two in zip(prompts, ids)]
    tensors = {"prompts": prompts, "responses": ids, "attention_mask": whole}
    padded = {name: pad(values, batch_first=True) for name, values in tensors.items()}
    arrays = rollout(*texts).non_tensor_batch
    arrays["response_len"] = np.array([len(one) for one in ids])
    return DataProto(batch=TensorDict(padded, batch_size=len(texts)), non_tensor_batch=arrays)


def manager(path: str | None = None, gdpo: list[str] | None = None, **options: Any) -> Any:
    """The manager as verl's reward worker makes it of the lines of the documentation."""
    ours = {
        "source": "importlib",
        "name": "RewardManager",
        "module": {"path": "pkg://assay.adapters.verl_manager"},
    }
    kwargs = {"assay_config": path, "assay_options": options}
    reward = {"reward_manager": ours, "custom_reward_function": {"path": None}, "reward_kwargs": kwargs}
    made = OmegaConf.create({"reward": reward, "algorithm": {"gdpo_reward_keys": gdpo}})
    return load_reward_manager(made, tokenizer(), reward_router_address=None)


def faulty(gdpo: list[str] | None = None, max_fault_rate: float = 1.0, **changes: Any) -> Any:
    """One with the verifier of the tests, which no YAML can name."""
    made = manager(gdpo=gdpo)
    made._adapter = Adapter(
        config(**changes), verl_manager.TRAINER, verifiers=[service], max_fault_rate=max_fault_rate
    )
    return made


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "assay.toml"
    path.write_text('version = 1\n[[reward]]\nname = "correct"\nverifier = "math"\n')
    monkeypatch.setenv("ASSAY_CONFIG", str(path))
    return path


def run(made: Any, *rollouts: DataProto) -> list[dict[str, Any]]:
    async def every() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(made.run_single(one) for one in rollouts)))

    return asyncio.run(every())


def test_the_rewards_are_those_of_the_engine(written: Path) -> None:
    answers = [RIGHT, WRONG, "So it is 4"]
    found = run(manager(str(written)), *(rollout(text) for text in answers))
    scored = assay.Engine(written).score(completions=answers, references=["4"] * 3)
    assert [one["reward_score"] for one in found] == [one.reward for one in scored] == [1.0, 0.0, 1.0]
    infos = [one["reward_extra_info"] for one in found]
    assert [one["assay/reward/correct"] for one in infos] == [1.0, 0.0, 1.0]
    assert len({tuple(one) for one in infos}) == 1, "verl takes the keys of the first"
    scores = verl_manager.RewardManager.assemble_rm_scores(rollout(RIGHT, WRONG), [1.0, 0.0])
    assert scores.sum(dim=1).tolist() == [1.0, 0.0]
    assert scores[0].nonzero().flatten().tolist() == [len(RIGHT) - 1]


def test_the_last_output_is_the_answer_and_all_are_seen(written: Path) -> None:
    first = '[[reward]]\nname = "first"\nverifier = "math"\nturn = "first_assistant"\n'
    written.write_text(written.read_text() + first)
    found = run(manager(), trajectory(WRONG, RIGHT), trajectory(RIGHT + " That is all.", WRONG))
    assert [one["reward_extra_info"]["assay/reward/correct"] for one in found] == [1.0, 0.0]
    assert [one["reward_extra_info"]["assay/reward/first"] for one in found] == [0.0, 1.0]


def test_columns_the_prompt_and_token_ids(written: Path) -> None:
    written.write_text("""
version = 1
[data]
token_ids = "ids"
[[reward]]
name = "short"
verifier = "regex"
config = { pattern = "." }
when = 'meta.level == 3 && meta.data_source == "sums" && meta.num_turns == 2 && prompt.contains("2 + 2")'
shape = [{ kind = "overlong", max = 10, cache = 5 }]
""")
    found = run(manager(), rollout("four", level=3), rollout("eleven bytes", level=3))
    assert [one["reward_score"] for one in found] == [1.0, 0.0]
    with pytest.raises(assay.Unscored, match="abstained"):
        run(manager(), rollout("four", level=4))


def test_a_fault_is_an_error_or_the_floor() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        run(faulty(), rollout(BROKEN))
    found = run(faulty(combine={"on_fault": "floor", "floor": -1.0}), rollout(RIGHT), rollout(BROKEN))
    assert [one["reward_score"] for one in found] == [1.0, -1.0]
    assert [one["reward_extra_info"]["assay/fault_rate"] for one in found] == [0.0, 1.0]
    with pytest.raises(assay.ConfigError, match="verl cannot leave a sample out"):
        manager(on_fault="mask")


def test_too_many_faults_stop_the_training() -> None:
    floor = faulty(max_fault_rate=0.25, combine={"on_fault": "floor", "floor": -1.0})
    with pytest.raises(assay.TooManyFaults, match="above max_fault_rate = 0.25"):
        run(floor, *[rollout(RIGHT), rollout(BROKEN)] * 30)


BRIEF = """
[[reward]]
name = "brief"
verifier = "length"
config = { max = 4, unit = "characters" }
when = 'meta.level != 4'
"""
KEYS = ["assay/reward/correct", "assay/reward/brief"]


def test_gdpo_takes_each_reward(written: Path) -> None:
    written.write_text(written.read_text() + BRIEF)
    rollouts = [rollout(text) for text in ("4", "It is 4", "5", "It is 5")]
    found = run(manager(gdpo=KEYS), *rollouts)
    each = {key: np.array([one["reward_extra_info"][key] for one in found]) for key in KEYS}
    assert [values.tolist() for values in each.values()] == [[1, 1, 0, 0], [1, 0, 1, 0]]
    tensors = DataProto.concat(rollouts).batch
    advantages, _ = compute_gdpo_outcome_advantage(
        torch.zeros(4, RESPONSE),
        tensors["attention_mask"][:, PROMPT:],
        index=np.array(["a"] * 4),
        config=OmegaConf.create({"gdpo_reward_keys": KEYS}),
        non_tensor_batch=each,
        batch=tensors,
    )
    signs = advantages[:, 0].sign().tolist()
    assert (signs[0], signs[3]) == (1.0, -1.0)
    assert bool(advantages.isfinite().all())


def test_a_reward_of_gdpo_without_a_number_is_an_error(written: Path) -> None:
    written.write_text(written.read_text() + BRIEF)
    without = rollout("4", level=4)
    assert run(manager(), without)[0]["reward_score"] == 1.0
    with pytest.raises(assay.Unscored, match="assay/reward/brief: no number, and GDPO needs one"):
        run(manager(gdpo=KEYS), without)
