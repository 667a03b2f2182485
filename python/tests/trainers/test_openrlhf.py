"""The reward function and the server under OpenRLHF's own executor, and its experiences of them."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from assay.adapters.openrlhf import TrainingStopped
from assay.adapters.openrlhf_server import server

pytest.importorskip("openrlhf")

import torch
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.utils.agent import SingleTurnAgentExecutor
from tiny import tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CONFIG = """
version = 1
[[reward]]
name = "right"
verifier = "math"
[[reward]]
name = "brief"
verifier = "length"
weight = 0.5
config = { max = 12 }
"""
TWO_LINES = """
from assay.adapters.openrlhf import reward_function
reward_func = reward_function({config!r})
"""
BROKEN = """
import assay
from assay.adapters.openrlhf import reward_function

@assay.verifier
def judge(sample):
    if "x" in sample.completion:
        raise OSError("the judge is down")
    return 1.0

config = {"version": 1, "reward": [{"name": "judge", "verifier": "judge"}], "combine": COMBINE}
reward_func = reward_function(config, verifiers=[judge], cache=False)
"""
PROMPT = [{"role": "user", "content": "What is  2 + 2? The answer is not 7."}]


class Engine:
    """Answers in the place of vLLM."""

    def __init__(self, known: Any, answers: Sequence[str]) -> None:
        self._known = known
        self._answers = iter(answers)

    async def generate(self, ids: list[int], parameters: Any, multi_modal_data: Any = None) -> Any:
        text = next(self._answers)
        tokens = self._known(text, add_special_tokens=False)["input_ids"]
        output = SimpleNamespace(token_ids=tokens, text=text, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def executed(
    urls: list[str], answers: Sequence[str], labels: Sequence[str], length: int = 128
) -> list[dict[str, Any]]:
    """What OpenRLHF's executor of single turns makes of answers."""
    known = tokenizer()
    prompt = known.apply_chat_template(PROMPT, tokenize=False, add_generation_prompt=True)
    executor = SingleTurnAgentExecutor(urls)
    parameters = SimpleNamespace(max_tokens=16, logprobs=None)
    engine = Engine(known, answers)

    async def run() -> list[dict[str, Any]]:
        calls = (executor.execute(prompt, label, parameters, length, known, engine) for label in labels)
        return list(await asyncio.gather(*calls))

    return asyncio.run(run())


def experience(response: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Experience:
    """The experience that OpenRLHF makes of it. Its module wants vLLM, which is not asked here."""
    for name in ("vllm", "vllm.inputs", "vllm.utils"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name, member in (("", "SamplingParams"), (".inputs", "TokensPrompt"), (".utils", "random_uuid")):
        setattr(sys.modules[f"vllm{name}"], member, object)
    from openrlhf.trainer.ppo_utils.samples_generator import SamplesGenerator

    generator: Any = SamplesGenerator
    made: Experience = generator._process_response_into_experience(None, response)
    return made


@contextmanager
def serving(**settings: Any) -> Iterator[str]:
    with server(port=0, **settings) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/get_reward"
        running.shutdown()


ANSWERS = ["It is 4.<|end|>", "It is 5.<|end|>", "I would say that it is 4.<|end|>"]
REWARDS = [1.5, 0.5, 1.0]


def test_a_file_of_two_lines_is_a_reward_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "assay.toml"
    config.write_text(CONFIG)
    own = tmp_path / "reward.py"
    own.write_text(TWO_LINES.format(config=str(config)))

    responses = executed([str(own)], ANSWERS, ["4"] * 3)

    assert [float(one["reward"]) for one in responses] == REWARDS
    made = [experience(one, monkeypatch) for one in responses]
    assert [one.rewards.tolist() for one in made] == [[reward] for reward in REWARDS]
    assert [one.scores.tolist() for one in made] == [[reward] for reward in REWARDS]
    logs = [one.info["assay/reward/right"].tolist() for one in made]
    assert logs == [[1.0], [0.0], [1.0]]
    together = Experience.concat_experiences(made, 0)
    assert together.rewards.flatten().tolist() == REWARDS
    assert together.info["assay/fault_rate"].flatten().tolist() == [0.0] * 3


def test_the_prompt_is_not_judged_even_where_its_beginning_is_cut_off(tmp_path: Path) -> None:
    own = tmp_path / "reward.py"
    own.write_text(TWO_LINES.format(config=CONFIG))
    [whole] = executed([str(own)], ["I do not know"], ["7"])
    assert float(whole["reward"]) == 0.0
    [cut] = executed([str(own)], ["It is 4.<|end|>"], ["4"], length=48)
    assert len(cut["observation_tokens"]) < 48
    assert float(cut["reward"]) == 1.5


def test_the_server_answers_what_a_remote_reward_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(config=CONFIG) as url, serving(config=CONFIG) as other:
        responses = executed([url, other], ANSWERS, ["4"] * 3)
    assert [one["reward"] for one in responses] == [[reward] for reward in REWARDS]
    assert [one["scores"] for one in responses] == [[reward] for reward in REWARDS]
    made = [experience(one, monkeypatch) for one in responses]
    together = Experience.concat_experiences(made, 0)
    assert together.rewards.flatten().tolist() == REWARDS
    assert together.info["assay/reward/brief"].flatten().tolist() == [1.0, 1.0, 0.0]


def test_a_fault_is_the_floor_or_an_error_in_the_log_and_no_reward(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    floor, own = tmp_path / "floor.py", tmp_path / "raise.py"
    floor.write_text(BROKEN.replace("COMBINE", '{"on_fault": "floor", "floor": -1.0}'))
    own.write_text(BROKEN.replace("COMBINE", "{}"))
    answers = ["fine", "x", "good"]
    rewards = [one["reward"] for one in executed([str(floor)], answers, [""] * 3)]
    assert [float(reward) for reward in rewards] == [1.0, -1.0, 1.0]

    with caplog.at_level(logging.ERROR, logger="assay"):
        rewards = [one["reward"] for one in executed([str(own)], answers, [""] * 3)]
    assert rewards[1] is None, "OpenRLHF fails for want of it when it makes experiences"
    assert [float(reward) for reward in (rewards[0], rewards[2])] == [1.0, 1.0]
    assert "the judge is down" in caplog.text


def test_too_many_faults_stop_the_executor(tmp_path: Path) -> None:
    own = tmp_path / "floor.py"
    own.write_text(BROKEN.replace("COMBINE", '{"on_fault": "floor", "floor": -1.0}'))
    with pytest.raises(TrainingStopped, match="above max_fault_rate = 0.1.*the judge is down"):
        executed([str(own)], ["x"] * 50, [""] * 50)


def test_tensors_are_of_one_value_for_each_sample(tmp_path: Path) -> None:
    from assay.adapters.openrlhf import reward_function

    told = reward_function(CONFIG)(["p 4", "p 5"], ["p", "p"], ["4", "4"])
    assert told["rewards"].shape == told["scores"].shape == torch.Size([2])
    assert all(values.shape == torch.Size([2]) for values in told["extra_logs"].values())
