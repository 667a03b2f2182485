"""The metric of lm-evaluation-harness, in its own ``simple_evaluate`` with tasks from YAML."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards

import assay
from assay.adapters import lm_eval as adapter

lm_eval = pytest.importorskip("lm_eval")
model = pytest.importorskip("lm_eval.api.model")
tasks = pytest.importorskip("lm_eval.tasks")

TASK = """
task: sums
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["END"]}}
"""
HELPERS = """
import faulty
from assay.adapters import lm_eval
settings = dict(verifiers=[faulty.service], max_fault_rate={rate})
process_results = lm_eval.results(faulty.config(), name="correct", **settings)
correct = lm_eval.metric(faulty.config(), name="correct", **settings)
"""
PROCESS = """
process_results: !function helpers.process_results
metric_list:
  - {metric: correct, aggregation: nanmean, higher_is_better: true}
"""
FILTER = """
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
filter_list:
  - name: answer
    filter:
      - {function: custom, filter_fn: !function assay.adapters.lm_eval.answers}
      - {function: take_first}
"""
METRIC = """
metric_list:
  - {metric: !function helpers.correct, aggregation: nanmean, higher_is_better: true}
"""


class Answers(model.LM):  # type: ignore[name-defined,misc]
    """Answers what the question holds."""

    def generate_until(self, requests: list[Any], **options: Any) -> list[str]:
        return [request.args[0].split("|", 1)[1] for request in requests]

    def loglikelihood(self, requests: list[Any], **options: Any) -> list[Any]:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list[Any], **options: Any) -> list[Any]:
        raise NotImplementedError


def evaluate(
    folder: Path,
    scoring: str,
    answers: list[str],
    *,
    rate: float = 1.0,
    gold: Any = "4",
    extra: str = "",
) -> Any:
    data = folder / "data.jsonl"
    rows = [
        {"question": f"{at}: 2 + 2 = ?|{answer}", "answer": gold} for at, answer in enumerate(answers)
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "helpers.py").write_text(HELPERS.format(rate=rate))
    (folder / "sums.yaml").write_text(TASK.format(data=data) + scoring + extra)
    manager = tasks.TaskManager(include_path=str(folder), include_defaults=False)
    return lm_eval.simple_evaluate(
        model=Answers(), tasks=["sums"], task_manager=manager, bootstrap_iters=10, log_samples=True
    )


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.mark.parametrize("scoring", [PROCESS, METRIC])
def test_rewards_are_the_metric(tmp_path: Path, scoring: str) -> None:
    done = evaluate(tmp_path, scoring, [RIGHT, WRONG, RIGHT, RIGHT])
    results = done["results"]["sums"]
    assert results["correct,none"] == 0.75
    assert results["correct_stderr,none"] > 0
    assert results["assay_fault_rate,none"] == 0.0
    assert results["assay_latency_ms,none"] > 0.0
    assert [sample["correct"] for sample in done["samples"]["sums"]] == [1.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize("scoring", [PROCESS, METRIC])
def test_a_fault_is_left_out_and_no_zero(tmp_path: Path, scoring: str) -> None:
    done = evaluate(tmp_path, scoring, [RIGHT, BROKEN, RIGHT, BROKEN])
    results = done["results"]["sums"]
    assert results["correct,none"] == 1.0
    assert results["assay_fault_rate,none"] == 0.5
    assert math.isnan(done["samples"]["sums"][1]["correct"])


@pytest.mark.parametrize("scoring", [PROCESS, METRIC])
def test_too_many_faults_stop_the_evaluation(tmp_path: Path, scoring: str) -> None:
    with pytest.raises(assay.TooManyFaults, match="of the last 50 samples could not be judged"):
        evaluate(tmp_path, scoring, [BROKEN] * 60, rate=0.5)


def test_several_targets(tmp_path: Path) -> None:
    done = evaluate(tmp_path, PROCESS, [RIGHT, WRONG, BROKEN], gold=["four", "4"])
    assert done["results"]["sums"]["correct,none"] == 0.5
    assert done["results"]["sums"]["assay_fault_rate,none"] == pytest.approx(1 / 3)


def test_several_targets_of_a_metric(tmp_path: Path) -> None:
    several = "doc_to_target: !function targets.of\n"
    (tmp_path / "targets.py").write_text("def of(doc):\n    return doc['answer']\n")
    done = evaluate(tmp_path, METRIC, [RIGHT, WRONG], gold=["7", "4"], extra=several)
    assert done["results"]["sums"]["correct,none"] == 0.5
    with pytest.raises(assay.Unscored, match="use `process_results`"):
        evaluate(tmp_path, METRIC, [RIGHT, BROKEN], gold=["7", "4"], extra=several)


def test_rewards_are_those_of_the_engine() -> None:
    process_results = adapter.results(config(reward=UNEVEN))
    found = [process_results({"answer": "4"}, [answer])["assay"] for answer in (RIGHT, WRONG)]
    assert found == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]


def test_several_completions_are_one_result() -> None:
    process_results = adapter.results({"version": 1, "reward": [{"name": "a", "verifier": "math"}]})
    assert process_results({"target": "4"}, [[RIGHT, WRONG]])["assay"] == 0.5


def test_a_registered_metric() -> None:
    registry = pytest.importorskip("lm_eval.api.registry")
    adapter.register(config(reward=[{"name": "a", "verifier": "math"}]), name="assay_test")
    values = registry.get_metric("assay_test")(references=["4"], predictions=[RIGHT])
    assert values["assay_test"] == 1.0
    assert registry.get_metric_aggregation("assay_test")([1.0, math.nan]) == 1.0


def test_a_filter_finds_answers(tmp_path: Path) -> None:
    done = evaluate(tmp_path, FILTER, [RIGHT, WRONG, "", "The answer is 4."])
    assert done["results"]["sums"]["exact_match,answer"] == 0.5
    found = [sample["filtered_resps"] for sample in done["samples"]["sums"]]
    assert found == [["4"], ["5"], ["[invalid]"], ["4"]]


def test_the_environment_names_the_configuration(named: Path, tmp_path: Path) -> None:
    scoring = """
process_results: !function assay.adapters.lm_eval.process_results
metric_list:
  - {metric: assay, aggregation: nanmean, higher_is_better: true}
"""
    done = evaluate(tmp_path, scoring, [RIGHT, WRONG])
    assert done["results"]["sums"]["assay,none"] == 0.5


def test_the_documented_lines() -> None:
    process_results = documented("lm-eval.md")["process_results"]
    assert process_results({"answer": "4"}, [RIGHT])["correct"] == 1.0
    assert process_results({"answer": "4"}, [WRONG])["correct"] == 0.0
