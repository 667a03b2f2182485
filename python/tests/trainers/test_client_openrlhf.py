"""OpenRLHF's own client of remote reward models, and the daemon."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from serving import RIGHT_AND_BRIEF, rewards, scored, serving, without_init

pytest.importorskip("aiohttp")
without_init("openrlhf", "openrlhf.utils")

from openrlhf.utils.agent import SingleTurnAgentExecutor

if TYPE_CHECKING:
    from collections.abc import Sequence

PROMPT = "<|user|>What is 2 + 2? The answer is not 7.<|end|><|assistant|>"
ANSWERS = ["It is 4.", "It is 5.", "I would say that it is 4."]


class Ids(list[int]):
    """Numbers, as a tensor gives them."""

    def tolist(self) -> list[int]:
        return [*self]


class Letters:
    """A token a letter."""

    def __call__(self, text: str, **_: Any) -> dict[str, list[Ids]]:
        return {"input_ids": [Ids(map(ord, text))]}

    def decode(self, ids: Sequence[int], **_: Any) -> str:
        return "".join(map(chr, ids))


class Engine:
    """Answers in the place of vLLM."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = iter(answers)

    async def generate(self, *_: Any, **__: Any) -> Any:
        text = next(self._answers) + "<|end|>"
        output = SimpleNamespace(token_ids=[*map(ord, text)], text=text, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def executed(urls: str | list[str], answers: Sequence[str], label: Any) -> list[dict[str, Any]]:
    executor = SingleTurnAgentExecutor(urls)
    parameters = SimpleNamespace(max_tokens=64, logprobs=None)
    engine = Engine(answers)

    async def run() -> list[dict[str, Any]]:
        calls = (executor.execute(PROMPT, label, parameters, 512, Letters(), engine) for _ in answers)
        return [*await asyncio.gather(*calls)]

    return asyncio.run(run())


def samples(answers: Sequence[str], label: str) -> list[dict[str, str]]:
    return [{"prompt": PROMPT, "completion": answer, "reference": label} for answer in answers]


def test_rewards_are_those_of_our_own_protocol_and_of_a_run() -> None:
    expected = scored(RIGHT_AND_BRIEF, samples(ANSWERS, "4"))
    assert expected == [1.5, 0.5, 1.0]
    with serving(first=RIGHT_AND_BRIEF) as url:
        responses = executed(f"{url}/get_reward", ANSWERS, "4")
        assert rewards(url, samples(ANSWERS, "4")) == expected
    assert [one["reward"] for one in responses] == [[reward] for reward in expected]
    assert [one["scores"] for one in responses] == [[reward] for reward in expected]
    assert [one["extra_logs"]["assay/reward/right"] for one in responses] == [[1.0], [0.0], [1.0]]
    assert [one["extra_logs"]["assay/fault_rate"] for one in responses] == [[0.0]] * 3


def test_endpoints_take_turns_and_a_profile_is_one() -> None:
    other = '[[reward]]\nname = "four"\nverifier = "contains"\nconfig = { all = ["4"] }\n'
    with serving(first=RIGHT_AND_BRIEF, other=other) as url:
        urls = [f"{url}/get_reward", f"{url}/profiles/other/get_reward"]
        responses = executed(urls, ["It is 4."] * 2, "4")
    assert sorted(one["reward"][0] for one in responses) == [1.0, 1.5]


def test_a_reference_that_cannot_be_read_is_no_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None:
        pass

    monkeypatch.setattr(asyncio, "sleep", at_once)
    broken = '[[reward]]\nname = "script"\nverifier = "rhai"\nconfig = { script = "throw 1" }\n'
    with serving(first=broken) as url:
        [response] = executed(f"{url}/get_reward", ["It is 4."], "4")
        [line] = rewards(url, samples(["It is 4."], "4"))
    assert response["reward"] is line is None
