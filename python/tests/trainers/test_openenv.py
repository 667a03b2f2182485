"""The rubric of OpenEnv: in its environments, its containers and its server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

import assay
from assay.adapters import openenv as adapter

rubrics = pytest.importorskip("openenv.core.rubrics")
interfaces = pytest.importorskip("openenv.core.env_server.interfaces")
types = pytest.importorskip("openenv.core.env_server.types")
http = pytest.importorskip("openenv.core.env_server.http_server")


class Said(types.Action):  # type: ignore[name-defined,misc]
    message: str


class Asked(types.Observation):  # type: ignore[name-defined,misc]
    question: str = "2 + 2 = ?"
    answer: str | None = "4"


class Sums(interfaces.Environment[Said, Asked, types.State]):  # type: ignore[name-defined,misc]
    """One question, whose answer is judged."""

    def reset(self, seed: int | None = None, episode_id: str | None = None, **given: Any) -> Asked:
        self._reset_rubric()
        return Asked()

    def step(self, action: Said, timeout_s: float | None = None, **given: Any) -> Asked:
        observation = Asked(done=True)
        observation.reward = self._apply_rubric(action, observation)
        return observation

    async def step_async(self, action: Said, timeout_s: float | None = None, **given: Any) -> Asked:
        observation = Asked(done=True)
        observation.reward = await self._apply_rubric_async(action, observation)
        return observation

    @property
    def state(self) -> Any:
        return types.State()


COLUMNS = {"prompt": "question", "completion": "message", "reference": "answer"}


def made(kind: str = "Rubric", **settings: Any) -> Any:
    settings = {"verifiers": [service], "max_fault_rate": 1.0, "columns": COLUMNS, **settings}
    return getattr(adapter, kind)(config(**settings.pop("changes", {})), **settings)


def test_a_step_has_the_reward_of_the_engine() -> None:
    rubric = made(changes={"reward": UNEVEN})
    assert isinstance(rubric, rubrics.Rubric)
    env = Sums(rubric=rubric)
    found = [env.step(Said(message=text)).reward for text in (RIGHT, WRONG)]
    assert found == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]
    assert rubric.last_score == 0.1
    assert rubric.metrics["assay/reward/correct"] == 0.0


def test_an_environment_may_await_its_rubric() -> None:
    env = Sums(rubric=made("AsyncRubric"))
    assert asyncio.run(env.step_async(Said(message=RIGHT))).reward == 1.0
    assert asyncio.run(Sums(rubric=made()).step_async(Said(message=WRONG))).reward == 0.0


@pytest.mark.parametrize("kind", ["Rubric", "AsyncRubric"])
def test_containers_pass_rewards_and_faults_on(kind: str) -> None:
    def score(rubric: Any, text: str) -> Any:
        async def called() -> Any:
            score = rubric(Said(message=text), Asked())
            return await score if asyncio.iscoroutine(score) else score

        return asyncio.run(called())

    weighted = rubrics.WeightedSum([made(kind), made(kind)], weights=[0.75, 0.25])
    assert score(weighted, RIGHT) == 1.0
    assert score(rubrics.Gate(made(kind)), WRONG) == 0.0
    assert score(rubrics.Sequential(rubrics.Gate(made(kind)), made(kind)), RIGHT) == 1.0
    for rubric in (weighted, rubrics.Gate(made(kind)), rubrics.Sequential(made(kind))):
        with pytest.raises(assay.Unscored, match="the service is down"):
            score(rubric, BROKEN)
    nested = rubrics.RubricDict({"sums": made()})
    assert [name for name, _ in nested.named_rubrics()] == ["sums"]


def test_a_fault_and_an_abstention_are_errors_and_no_zeros() -> None:
    env = Sums(rubric=made())
    with pytest.raises(assay.Unscored, match="the service is down"):
        env.step(Said(message=BROKEN))
    with pytest.raises(assay.Unscored, match="abstained"):
        env.rubric(Said(message=RIGHT), Asked(answer=None))


def test_a_server_says_what_is_wrong() -> None:
    client = pytest.importorskip("fastapi.testclient")
    app = http.create_fastapi_app(lambda: Sums(rubric=made()), Said, Asked)
    with client.TestClient(app).websocket_connect("/ws") as socket:
        replies = []
        for text in (RIGHT, BROKEN):
            socket.send_text(json.dumps({"type": "step", "data": {"message": text}}))
            replies.append(json.loads(socket.receive_text()))
    assert replies[0]["data"]["reward"] == 1.0
    assert replies[1]["type"] == "error"
    assert "the service is down" in replies[1]["data"]["message"]


def test_too_many_faults_are_an_error() -> None:
    env = Sums(rubric=made(max_fault_rate=0.25))
    with pytest.raises(assay.TooManyFaults, match="max_fault_rate = 0.25"):
        for _ in range(60):
            with pytest.raises(assay.Unscored):
                env.step(Said(message=BROKEN))


def test_the_metadata_of_an_observation_are_columns() -> None:
    rubric = made(columns={"completion": "message", "reference": "gold"})
    assert rubric(Said(message=RIGHT), Asked(metadata={"gold": "4"})) == 1.0


def test_an_action_without_a_completion_is_an_error() -> None:
    with pytest.raises(assay.DataError, match="no 'completion' to judge: .* question, answer.*message"):
        made(columns={})(Said(message=RIGHT), Asked())


def test_the_environment_names_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "assay.json"
    data = {"completion": "message", "reference": "answer"}
    reward = {"name": "correct", "verifier": "math"}
    path.write_text(json.dumps({"version": 1, "data": data, "reward": [reward]}))
    monkeypatch.setenv("ASSAY_CONFIG", str(path))
    assert adapter.Rubric()(Said(message=RIGHT), Asked()) == 1.0


def test_the_documented_lines() -> None:
    assert documented("openenv.md")["reward"] == 1.0
