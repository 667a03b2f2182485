"""The reward of a ``verifiers.v1`` task, by the task's own scoring."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay
from assay.adapters import verifiers as adapter

vf = pytest.importorskip("verifiers.v1")


class SumData(vf.TaskData):  # type: ignore[name-defined,misc]
    answer: str | None = None
    gold: str | None = None


class Sums(vf.Task[SumData]):  # type: ignore[name-defined,misc]
    correct = adapter.reward(
        config(), name="correct", weight=2.0, verifiers=[service], max_fault_rate=1.0
    )

    @vf.reward(weight=0.5)  # type: ignore[untyped-decorator]
    async def short(self, trace: Any) -> float:
        return float(len(trace.last_reply) < 100)

    @vf.metric  # type: ignore[untyped-decorator]
    async def length(self, trace: Any) -> float:
        return float(len(trace.last_reply))


class Plain(vf.Task[SumData]):  # type: ignore[name-defined,misc]
    """A task without a reward of its own."""


def trace_of(data: Any, reply: str, kind: str = "Sums") -> Any:
    messages = [vf.UserMessage(content="2 + 2 = ?"), vf.AssistantMessage(content=reply)]
    return vf.Trace(
        task=vf.TraceTask(type=kind, data=data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=[
            vf.MessageNode(message=messages[0]),
            vf.MessageNode(message=messages[1], parent=0, sampled=True),
        ],
    )


def scored(reply: str, kind: type = Sums, task_config: Any = None, **fields: Any) -> Any:
    data = SumData(prompt="2 + 2 = ?", **{"answer": "4", **fields})
    trace = trace_of(data, reply, kind.__name__)
    asyncio.run(kind(data, task_config).score(trace))
    return trace


def test_a_task_is_scored_with_its_other_rewards() -> None:
    trace = scored(RIGHT)
    assert trace.rewards["correct"].score == 1.0
    assert trace.reward == 2.5
    assert trace.metrics["assay/fault_rate"] == 0.0
    assert trace.metrics["assay/reward/correct"] == 1.0
    assert trace.metrics["assay/latency_ms"] > 0.0
    assert trace.metrics["length"] == len(RIGHT)
    assert scored(WRONG).rewards["correct"].score == 0.0


def test_rewards_are_those_of_the_engine() -> None:
    class Uneven(vf.Task[SumData]):  # type: ignore[name-defined,misc]
        sums = adapter.reward(config(reward=UNEVEN))

    found = [scored(answer, Uneven).reward for answer in (RIGHT, WRONG)]
    assert found == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]


def test_a_fault_has_no_reward_and_is_an_error_of_the_task() -> None:
    data = SumData(prompt="2 + 2 = ?", answer="4")
    trace = trace_of(data, BROKEN)
    with pytest.raises(vf.TaskError, match="the service is down; the trace has no reward"):
        asyncio.run(Sums(data).score(trace))
    assert trace.rewards["correct"] is None
    assert trace.metrics["assay/fault_rate"] == 1.0


def test_a_task_without_a_reference_has_no_reward() -> None:
    data = SumData(prompt="2 + 2 = ?")
    with pytest.raises(vf.TaskError, match="abstained"):
        asyncio.run(Sums(data).score(trace_of(data, RIGHT)))


def test_too_many_faults_end_the_run() -> None:
    class Strict(vf.Task[SumData]):  # type: ignore[name-defined,misc]
        correct = adapter.reward(config(), verifiers=[service], max_fault_rate=0.5)

    async def run() -> None:
        for _ in range(60):
            data = SumData(prompt="2 + 2 = ?", answer="4")
            try:
                await Strict(data).score(trace_of(data, BROKEN))
            except vf.TaskError:
                continue

    with pytest.raises(SystemExit, match="50 of the last 50 samples could not be judged"):
        asyncio.run(run())


def test_the_column_of_the_configuration_is_the_reference() -> None:
    class Named(vf.Task[SumData]):  # type: ignore[name-defined,misc]
        correct = adapter.reward(config(data={"reference": "gold"}), verifiers=[service])

    trace = scored(RIGHT, Named, answer="7", gold="4")
    assert trace.rewards["assay"].score == 1.0


def test_a_task_is_rewarded_by_its_configuration_alone(named: Path) -> None:
    plugged = {"assay": {"fn": "assay.adapters.verifiers:reward_fn", "weight": 3.0}}
    trace = scored(RIGHT, Plain, vf.TaskConfig(rewards=plugged))
    assert trace.rewards["assay"].score == 1.0
    assert trace.reward == 3.0


async def chat(request: Any) -> Any:
    """A model that answers what the question holds."""
    web = pytest.importorskip("aiohttp.web")
    body = await request.json()
    message = {"role": "assistant", "content": body["messages"][-1]["content"].split("|", 1)[1]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    return web.json_response({**about, "choices": [choice]})


async def rollouts(kind: type, answers: list[str]) -> list[Any]:
    """Whole rollouts by an agent of verifiers: its harness, its interception, its scoring."""
    web = pytest.importorskip("aiohttp.web")
    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    server = web.AppRunner(app)
    await server.setup()
    await web.TCPSite(server, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{server.addresses[0][1]}/v1"
    agent = vf.AgentConfig(
        model="m",
        client=vf.EvalClientConfig(base_url=url, api_key_var="KEY_OF_THE_TEST"),
        harness=vf.HarnessConfig(id="echo_harness"),
        runtime=vf.SubprocessConfig(),
    )
    try:
        tasks = [kind(SumData(prompt=f"2 + 2 = ?|{answer}", answer="4")) for answer in answers]
        return [await vf.Agent(agent).run(task) for task in tasks]
    finally:
        await server.cleanup()


def test_rollouts_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_THE_TEST", "none")
    right, wrong, broken = asyncio.run(rollouts(Sums, [RIGHT, WRONG, BROKEN]))
    assert (right.ok, right.rewards["correct"].score) == (True, 1.0)
    assert (wrong.ok, wrong.rewards["correct"].score) == (True, 0.0)
    assert (broken.ok, broken.rewards["correct"]) == (False, None)
    assert "the service is down" in broken.last_error.message
    assert broken.metrics["assay/fault_rate"] == 1.0


def test_too_many_faults_end_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_THE_TEST", "none")

    class Strict(vf.Task[SumData]):  # type: ignore[name-defined,misc]
        correct = adapter.reward(config(), verifiers=[service], max_fault_rate=0.0)

    for _ in range(49):
        scored(RIGHT, Strict)
    with pytest.raises(SystemExit, match="1 of the last 50 samples could not be judged"):
        asyncio.run(rollouts(Strict, [BROKEN]))


def test_a_rubric_is_a_reward_with_its_criteria_as_metrics() -> None:
    criteria = [{"name": "polite", "text": "Is it polite?"}, {"name": "short", "text": "Is it short?"}]
    settings = {"rubric": {"criterion": criteria}, "judge": {"column": "replies"}}
    rubric = {"version": 1, "reward": [{"name": "manner", "verifier": "rubric", "config": settings}]}

    class LetterData(vf.TaskData):  # type: ignore[name-defined,misc]
        replies: dict[str, str]

    class Letter(vf.Task[LetterData]):  # type: ignore[name-defined,misc]
        manner = adapter.reward(rubric, name="manner")

    verdict = '{{"reasons": "", "verdict": {}}}'
    replies = {"polite": verdict.format("true"), "short": verdict.format("false")}
    data = LetterData(prompt="Write a letter.", replies=replies)
    trace = trace_of(data, "Dear Sir, thank you.", "Letter")
    asyncio.run(Letter(data).score(trace))
    assert trace.rewards["manner"].score == 0.5
    assert trace.metrics["assay/reward/manner/polite"] == 1.0
    assert trace.metrics["assay/reward/manner/short"] == 0.0


def parted(**changes: Any) -> dict[str, Any]:
    short = {"name": "short", "verifier": "length", "weight": 0.25, "config": {"max": 80}}
    return config(reward=[*config()["reward"], short], **changes)


@pytest.mark.parametrize("reply", [RIGHT, WRONG])
def test_parts_are_rewards_that_add_up(reply: str) -> None:
    class Parted(vf.Task[SumData]):  # type: ignore[name-defined,misc]
        parts = adapter.reward(parted(), weight=2.0, parts=True, verifiers=[service])

    trace = scored(reply, Parted)
    found = {name: reward.score for name, reward in trace.rewards.items()}
    assert found == {"correct": float(reply == RIGHT), "short": 0.25}
    [sample] = assay.Engine(parted(), verifiers=[service]).score(completions=[reply], references=["4"])
    assert trace.reward == 2.0 * (sample.reward or 0.0)


def test_parts_of_another_combination_are_refused() -> None:
    with pytest.raises(assay.ConfigError, match=r"combine\.clamp = .* would be lost: verifiers adds"):
        adapter.reward(parted(combine={"clamp": [0.0, 1.0]}), parts=True, verifiers=[service])


def test_a_judge_is_plugged_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sums_judge.py").write_text(
        "import faulty\nfrom assay.adapters import verifiers\n"
        "__all__ = ['Judge']\n"
        "Judge = verifiers.judge(faulty.config(), verifiers=[faulty.service], max_fault_rate=1.0)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    plugged = vf.TaskConfig(judges=[{"id": "sums_judge", "name": "sums", "weight": 3.0}])
    trace = scored(RIGHT, Plain, plugged)
    assert (trace.rewards["sums"].score, trace.reward) == (1.0, 3.0)
    assert trace.metrics["assay/reward/correct"] == 1.0
    assert scored(WRONG, Plain, plugged).reward == 0.0
    data = SumData(prompt="2 + 2 = ?", answer="4")
    broken = trace_of(data, BROKEN, "Plain")
    with pytest.raises(vf.TaskError, match="the service is down; the trace has no reward"):
        asyncio.run(Plain(data, plugged).score(broken))
    assert broken.rewards["sums"] is None


def test_the_documented_lines() -> None:
    names = documented("verifiers.md")
    data = names["SumData"](prompt="2 + 2 = ?", answer="4")
    trace = trace_of(data, RIGHT, "SumTask")
    asyncio.run(names["SumTask"](data).score(trace))
    assert trace.reward == 1.0
