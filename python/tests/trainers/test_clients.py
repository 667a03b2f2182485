"""Clients of model servers and of graders, and the daemon: the `InferenceClient` of `huggingface_hub`, the
client of `openai`, and plain requests in the shapes that text-embeddings-inference and vLLM publish."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from serving import MODELS, rewards, serving, verified

pytest.importorskip("openai")

import openai
import requests
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPT, RIGHT, WRONG = "What is 2 + 3?", "The sum is 5.", "No 5."
PAIRS = [{"prompt": PROMPT, "completion": text} for text in (RIGHT, WRONG)]
STEPS = "Tom has 12 - 4 = 8 apples.\n\nHe eats 2, so he has 8 - 2 = 6 apples."
SAME = {
    "type": "string_check",
    "name": "same",
    "operation": "eq",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.reference }}",
}
ALIKE = {
    "type": "text_similarity",
    "name": "alike",
    "evaluation_metric": "fuzzy_match",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.reference }}",
}
RULES = """
[[reward]]
name = "same"
verifier = "exact"
[[reward]]
name = "form"
verifier = "regex"
weight = 0.5
config = { pattern = '^[a-z]' }
"""


def config(verifier: str, model: str) -> str:
    run = "{ backend = 'rten', workers = 1 }"
    return (
        f"[[reward]]\nname = 'judged'\nverifier = '{verifier}'\n"
        f"config = {{ model = '{MODELS / model}', run = {run} }}\n"
    )


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    configs = {
        "cross": config("outcome_model", "cross-encoder"),
        "near": config("embedding_model", "sentence-embedding"),
        "chat": config("outcome_model", "arch-qwen2"),
        "steps": config("process_model", "arithmetic-prm"),
        "rules": RULES,
    }
    allowed = "serve.allow_inline_config=['string_check', 'text_similarity']"
    with serving("--set", allowed, **configs) as url:
        yield url


def unit(vector: list[float]) -> list[float]:
    length = math.sqrt(math.fsum(value * value for value in vector))
    return [value / length for value in vector]


def test_inference_client_embeds_and_compares(url: str) -> None:
    near = f"{url}/profiles/near"
    client = InferenceClient(provider="hf-inference", token="none", base_url=None)
    vectors = client.feature_extraction([RIGHT, WRONG], model=f"{near}/embed").tolist()
    one = client.feature_extraction(RIGHT, model=f"{near}/embed", normalize=True, truncate=True)
    assert one.tolist() == [vectors[0]]
    plain = requests.post(f"{near}/embed", json={"inputs": [RIGHT, WRONG]}).json()
    assert vectors == [pytest.approx(vector, abs=1e-7) for vector in plain]
    assert math.isclose(math.hypot(*vectors[0]), 1.0, rel_tol=1e-6)

    compared = client.sentence_similarity(RIGHT, [WRONG, RIGHT], model=f"{near}/similarity")
    texts = [{"completion": text, "reference": RIGHT} for text in (WRONG, RIGHT)]
    assert compared == rewards(url, texts, "near")


def test_inference_client_takes_the_base_url(url: str) -> None:
    client = InferenceClient(provider="hf-inference", token="none")
    near = f"{url}/profiles/near"
    vector = client.feature_extraction(RIGHT, model=near).tolist()
    assert vector == client.feature_extraction(RIGHT, model=f"{near}/embed").tolist()
    compared = client.sentence_similarity(RIGHT, [WRONG, RIGHT], model=f"{near}/")
    assert compared == client.sentence_similarity(RIGHT, [WRONG, RIGHT], model=f"{near}/similarity")
    text = requests.post(f"{url}/profiles/rules/predict", json={"inputs": RIGHT}).json()
    assert [vars(client.text_classification(RIGHT, model=f"{url}/profiles/rules"))] == text


def test_clients_learn_what_is_served(url: str) -> None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["cross", "near", "chat", "steps", "rules"]
    assert list(requests.get(f"{url}/profiles/near/info").json()["model_type"]) == ["embedding"]
    assert requests.get(f"{url}/health").status_code == 200


def test_inference_client_is_told_why(url: str) -> None:
    client = InferenceClient(provider="hf-inference", token="none")
    with pytest.raises(HfHubHTTPError, match="no vectors") as told:
        client.feature_extraction(RIGHT, model=f"{url}/profiles/rules/embed")
    assert told.value.response.json()["error_type"] == "Validation"


def test_shapes_of_text_embeddings_inference(url: str) -> None:
    expected = rewards(url, PAIRS, "cross")
    pairs = [[PROMPT, text] for text in (RIGHT, WRONG)]
    body = {"inputs": pairs, "raw_scores": False, "truncate": False, "truncation_direction": "Right"}
    told = requests.post(f"{url}/predict", json=body).json()
    assert [[one["score"] for one in labels] for labels in told] == [[reward] for reward in expected]
    body = {"query": PROMPT, "texts": [RIGHT, WRONG], "return_text": True, "raw_scores": False}
    ranked = requests.post(f"{url}/rerank", json=body).json()
    assert sorted(ranked, key=lambda one: -one["score"]) == ranked
    assert {one["index"]: one["score"] for one in ranked} == dict(enumerate(expected))
    assert {one["index"]: one["text"] for one in ranked} == {0: RIGHT, 1: WRONG}
    for body, kind in [({"inputs": 3}, "Validation"), ({}, "Validation")]:
        refused = requests.post(f"{url}/predict", json=body)
        assert refused.status_code in (400, 413, 422)
        assert refused.json()["error_type"] == kind


def test_openai_client_gets_vectors_and_rewards(url: str) -> None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    made = client.embeddings.create(model="near", input=[RIGHT, WRONG])
    plain = requests.post(f"{url}/profiles/near/embed", json={"inputs": [RIGHT, WRONG]}).json()
    assert [one.embedding for one in made.data] == [pytest.approx(vector, abs=1e-6) for vector in plain]
    assert made.model == "near" and made.usage.prompt_tokens == made.usage.total_tokens > 0
    short = client.embeddings.create(model="near", input=RIGHT, dimensions=4, encoding_format="float")
    assert short.data[0].embedding == pytest.approx(unit(plain[0][:4]), abs=1e-6)

    [expected] = rewards(url, [{"completion": "three"}], "rules")
    reward = client.embeddings.create(model="rules", input="three", encoding_format="float")
    assert reward.data[0].embedding == [expected]
    with pytest.raises(openai.BadRequestError, match="expected 1 to"):
        client.embeddings.create(model="near", input=RIGHT, dimensions=100_000)


def test_openai_client_gets_scores_as_from_vllm(url: str) -> None:
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    expected = rewards(url, PAIRS, "cross")
    body: dict[str, Any] = {"model": "cross", "text_1": PROMPT, "text_2": [RIGHT, WRONG]}
    for path in ("/score", "/v1/score"):
        told: Any = client.post(path, cast_to=object, body=body)
        assert [one["score"] for one in told["data"]] == expected
        assert [one["index"] for one in told["data"]] == [0, 1]
    ranking = {"model": "cross", "query": PROMPT, "documents": [RIGHT, WRONG], "top_n": 2}
    told = client.post("/v1/rerank", cast_to=object, body=ranking)
    assert {one["index"]: one["relevance_score"] for one in told["results"]} == dict(enumerate(expected))

    messages = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": RIGHT}]
    [reward] = rewards(url, PAIRS[:1], "chat")
    told = client.post("/classify", cast_to=object, body={"model": "chat", "messages": messages})
    assert told["data"][0]["probs"] == [reward] and told["data"][0]["num_classes"] == 1
    told = client.post("/pooling", cast_to=object, body={"model": "chat", "messages": messages})
    assert told["data"][0]["data"] == [reward]

    [line] = verified(url, [{"prompt": PROMPT, "completion": STEPS}], "steps")
    messages[1]["content"] = STEPS
    told = client.post("/pooling", cast_to=object, body={"model": "steps", "messages": messages})
    steps = line["verdicts"]["judged"]["steps"]
    assert told["data"][0]["data"] == [step["reward"] for step in steps]


def test_openai_graders_are_those_of_a_profile() -> None:
    def table(name: str, grader: dict[str, str]) -> str:
        kind = grader["type"]
        own = {"evaluation_metric": "metric"}
        kept = {own.get(key, key): value for key, value in grader.items() if key not in ("type", "name")}
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in kept.items())
        return f"[[reward]]\nname = '{name}'\nverifier = '{kind}'\nconfig = {{ {pairs} }}\n"

    allowed = "serve.allow_inline_config=['string_check', 'text_similarity']"
    configs = {"same": table("same", SAME), "alike": table("alike", ALIKE), "rules": RULES}
    with serving("--set", allowed, **configs) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        graders = client.fine_tuning.alpha.graders
        for text in ("four", "fork", "five"):
            sample = {"completion": text, "reference": "four"}
            item = {"reference": "four"}
            rewarded: list[float] = []
            for profile, grader in (("same", SAME), ("alike", ALIKE)):
                [expected] = rewards(url, [sample], profile)
                graded = graders.run(grader=grader, model_sample=text, item=item)  # type: ignore[arg-type]
                assert graded.reward == expected
                assert graded.metadata.name == grader["name"] and graded.metadata.type == grader["type"]
                assert not any(value for value in graded.metadata.errors.model_dump().values())
                rewarded.append(expected)
            multi: Any = {
                "type": "multi",
                "name": "both",
                "graders": {"same": SAME, "alike": ALIKE},
                "calculate_output": "0.5 * same + 0.5 * alike",
            }
            graded = graders.run(grader=multi, model_sample=text, item=item)
            assert graded.reward == pytest.approx(sum(rewarded) / 2)
            assert [graded.sub_rewards[name] for name in ("same", "alike")] == rewarded
            [expected] = rewards(url, [sample], "rules")
            own = openai.OpenAI(base_url=f"{url}/profiles/rules/v1", api_key="none", max_retries=0)
            nothing: Any = None
            graded = own.fine_tuning.alpha.graders.run(grader=nothing, model_sample=text, item=item)
            assert graded.reward == expected
        valid = graders.validate(grader=multi)
        assert valid.grader is not None and valid.grader.type == "multi"
        judge: Any = {"type": "score_model", "name": "j", "model": "m", "input": []}
        with pytest.raises(openai.BadRequestError, match="judges belong to configurations"):
            graders.run(grader=judge, model_sample="four", item={})
