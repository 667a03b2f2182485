"""NeMo-Gym's own models of requests and answers, and the daemon as its resources server."""

from __future__ import annotations

import importlib.metadata
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from serving import RIGHT_AND_BRIEF, rewards, serving, verified

pytest.importorskip("nemo_gym")

import requests


class Unused(ModuleType):
    """A package that takes no part in a request: its names stand for nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def nemo_gym() -> Any:
    """Its models of bodies. Ray, MLflow and Weights & Biases, which run and watch its servers, are not
    there."""
    known = importlib.metadata.version
    importlib.metadata.version = lambda name: "2.60.0" if name == "ray" else known(name)
    for name in ("ray", "mlflow", "wandb", "scipy", "scipy.stats"):
        sys.modules.setdefault(name, Unused(name))
    vars(sys.modules["scipy"])["stats"] = sys.modules["scipy.stats"]
    import nemo_gym.base_resources_server as bodies

    importlib.metadata.version = known
    return bodies


if TYPE_CHECKING:
    from collections.abc import Iterator

BODIES = nemo_gym()
CONFIG = f"""
[data]
reference = "expected_answer"{RIGHT_AND_BRIEF}"""
QUESTION = "What is 2 + 2?"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    broken = '[[reward]]\nname = "script"\nverifier = "rhai"\nconfig = { script = "throw 1" }\n'
    with serving(first=CONFIG, broken=broken) as url:
        yield url


def body(answer: str, **fields: Any) -> dict[str, Any]:
    """A rollout, as the models of NeMo-Gym write it."""
    text = {"type": "output_text", "text": answer, "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    response = {
        "id": "r",
        "created_at": 0.0,
        "model": "m",
        "object": "response",
        "output": [message],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    params = {"input": [{"role": "user", "content": QUESTION}], "temperature": 1.0}
    request = BODIES.BaseVerifyRequest.model_validate(
        {"responses_create_params": params, "response": response}
    )
    return {**request.model_dump(mode="json"), **fields}


@pytest.mark.parametrize("answer", ["It is 4.", "It is 5.", "I would say that it is 4."])
def test_a_rollout_earns_what_our_own_protocol_gives(url: str, answer: str) -> None:
    told = requests.post(f"{url}/verify", json=body(answer, expected_answer="4"))
    assert told.status_code == 200, told.text
    read = BODIES.BaseMultiRewardVerifyResponse.model_validate(told.json())
    sample = {"prompt": QUESTION, "completion": answer, "expected_answer": "4"}
    [line] = verified(url, [sample])
    assert read.reward == line["reward"]
    assert not read.mask_sample and read.failure_kind is None
    assert read.reward_components == {name: one["reward"] for name, one in line["verdicts"].items()}
    assert read.response.output[0].content[0].text == answer


def test_a_rollout_that_cannot_be_judged_is_masked(url: str) -> None:
    told = requests.post(f"{url}/profiles/broken/verify", json=body("It is 4.")).json()
    read = BODIES.BaseVerifyResponse.model_validate(told)
    [reward] = rewards(url, [{"prompt": QUESTION, "completion": "It is 4."}], "broken")
    assert reward is None and read.mask_sample and read.reward == 0.0
    assert read.failure_kind == told["_ng_failure_class"] and read.failure_reason


def test_a_session_is_the_one_that_was_asked_for(url: str) -> None:
    request = BODIES.ResourcesSeedSessionRequest.model_validate(
        {
            "resources_session_id": "s",
            "episode_id": {"rollout_id": "e"},
            "task_id": {"taskset": "t", "task_id": "1"},
            "task_data": {},
        }
    )
    told = requests.post(f"{url}/seed_session", json=request.model_dump(mode="json")).json()
    assert BODIES.ResourcesSeedSessionResponse.model_validate(told).resources_session_id == "s"
    closed = {"resources_session_id": "s", "episode_id": "e"}
    told = requests.post(f"{url}/close_session", json=closed).json()
    assert BODIES.ResourcesCloseSessionResponse.model_validate(told).resources_session_id == "s"
    plain = requests.post(f"{url}/seed_session", json={}).json()
    assert BODIES.BaseSeedSessionResponse.model_validate(plain) is not None
    assert requests.get(f"{url}/reverify_mode").json() == BODIES.ReverifyMode.STATELESS.value


def test_what_cannot_be_read_is_refused_as_by_fastapi(url: str) -> None:
    for odd, loc in [
        ({}, ["body", "responses_create_params"]),
        ({"responses_create_params": {"input": "a"}}, ["body", "response"]),
        ({**body("a"), "response": {"output": 3}}, ["body", "response", "output"]),
    ]:
        told = requests.post(f"{url}/verify", json=odd)
        assert told.status_code == 422, told.text
        [detail] = told.json()["detail"]
        assert detail["loc"] == loc and detail["type"] and detail["msg"]
