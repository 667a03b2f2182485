"""The agent under OpenRLHF's own executor of several turns."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import assay
import pytest
from assay.adapters import openrlhf_agent as adapter
from faulty import BROKEN, RIGHT, WRONG, config, service

pytest.importorskip("openrlhf")

from openrlhf.utils.agent import AgentExecutorBase, AgentInstanceBase
from test_openrlhf import Engine, experience
from tiny import tokenizer

REPLY = "<|user|>Are you sure?<|end|><|assistant|>"


def loaded(path: str) -> Any:
    """The executor of a file, as OpenRLHF's engine loads it."""
    spec = importlib.util.spec_from_file_location("agent_module", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert hasattr(module, "AgentExecutor")
    assert issubclass(module.AgentExecutor, AgentExecutorBase)
    return module.AgentExecutor()


def executed(executor: Any, *rollouts: list[str], label: str = "4", length: int = 512) -> list[Any]:
    """What the executor makes of rollouts, each of so many answers."""
    known = tokenizer()
    question = [{"role": "user", "content": "2 + 2 = ?"}]
    prompt = known.apply_chat_template(question, tokenize=False, add_generation_prompt=True)

    async def run(answers: list[str]) -> Any:
        parameters = SimpleNamespace(max_tokens=16, logprobs=None)
        engine = Engine(known, [f"{answer}<|end|>" for answer in answers])
        return await executor.execute(prompt, label, parameters, length, known, engine)

    async def every() -> list[Any]:
        return list(await asyncio.gather(*(run(answers) for answers in rollouts)))

    return asyncio.run(every())


def made(reply: Any = lambda turns: None, **settings: Any) -> Any:
    settings = {"verifiers": [service], "max_fault_rate": 1.0, **settings}
    return adapter.executor(settings.pop("config", config()), reply=reply, **settings)()


def test_the_rewards_are_those_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    third = {"name": "third", "verifier": "regex", "config": {"pattern": "4"}, "weight": 1 / 3}
    both = {"version": 1, "reward": [{"name": "correct", "verifier": "math"}, third]}
    answers = [RIGHT, WRONG, "So it is 4"]
    found = executed(made(config=both), *([answer] for answer in answers))
    scored = assay.Engine(both).score(completions=answers, references=["4"] * 3)
    assert [one["reward"] for one in found] == [one["scores"] for one in found]
    assert [one["reward"] for one in found] == [one.reward for one in scored]
    assert found[0]["reward"] == 1 + 1 / 3, "and not of single precision"
    experiences = [experience(one, monkeypatch) for one in found]
    assert [one.info["assay/reward/correct"].item() for one in experiences] == [1.0, 0.0, 1.0]


def test_several_turns_are_judged_at_their_end() -> None:
    executor = made(reply=lambda turns: None if len(turns) > 1 else REPLY)
    found = executed(executor, [WRONG, RIGHT], [RIGHT, WRONG])
    assert [one["reward"] for one in found] == [1.0, 0.0]
    assert len(found[0]["action_ranges"]) == 2
    text = tokenizer().decode(found[0]["observation_tokens"])
    assert text.endswith(f"{WRONG}<|end|>{REPLY}{RIGHT}<|end|>")


def test_a_turn_may_be_chosen_and_the_reply_is_seen() -> None:
    first = {"name": "first", "verifier": "math", "turn": "first_assistant"}
    asked = {"name": "asked", "verifier": "regex", "config": {"pattern": "sure"}, "turn": 1}
    executor = made(
        reply=lambda turns: None if len(turns) > 1 else REPLY,
        config={"version": 1, "reward": [first, asked]},
    )
    [found] = executed(executor, [RIGHT, WRONG])
    assert found["extra_logs"]["assay/reward/first"] == 1.0
    assert found["extra_logs"]["assay/reward/asked"] == 1.0


def test_a_fault_and_an_abstention_are_errors_or_the_floor() -> None:
    with pytest.raises(assay.Unscored, match="the service is down"):
        executed(made(), [BROKEN])
    with pytest.raises(assay.Unscored, match="abstained"):
        executed(made(), [RIGHT], label="")
    floor = config(combine={"on_fault": "floor", "floor": -1.0})
    found = executed(made(config=floor), [RIGHT], [BROKEN])
    assert [one["reward"] for one in found] == [1.0, -1.0]
    with pytest.raises(assay.ConfigError, match="OpenRLHF cannot leave a sample out"):
        made(on_fault="mask")


def test_too_many_faults_end_the_training() -> None:
    floor = config(combine={"on_fault": "floor", "floor": -1.0})
    with pytest.raises(assay.TooManyFaults, match="above max_fault_rate = 0.25"):
        executed(made(config=floor, max_fault_rate=0.25), *[[RIGHT], [BROKEN]] * 30)


def test_the_file_of_the_module_is_an_agent(named: Path) -> None:
    assert adapter.__file__ is not None
    found = executed(loaded(adapter.__file__), [RIGHT], [WRONG])
    assert [one["reward"] for one in found] == [1.0, 0.0]
    assert issubclass(loaded(adapter.__file__).agent_instance_cls, AgentInstanceBase)


def test_the_documented_file(tmp_path: Path) -> None:
    path = tmp_path / "assay.toml"
    path.write_text('version = 1\n[[reward]]\nname = "correct"\nverifier = "math"\n')
    page = Path(__file__).parents[3].joinpath("docs", "trainers", "openrlhf.md").read_text("utf-8")
    [code] = [part for part in page.split("```python\n")[1:] if "AgentExecutor" in part]
    own = tmp_path / "agent.py"
    own.write_text(code.split("```")[0].replace("/data/assay.toml", str(path)))
    [found] = executed(loaded(str(own)), [WRONG, RIGHT])
    assert found["reward"] == 1.0
