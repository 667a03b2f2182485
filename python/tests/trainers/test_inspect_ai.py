"""The scorer of Inspect, in its own ``eval`` and ``score``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from faulty import BROKEN, RIGHT, UNEVEN, WRONG, config, documented, rewards, service

from assay.adapters import inspect_ai as adapter

inspect_ai = pytest.importorskip("inspect_ai")
dataset = pytest.importorskip("inspect_ai.dataset")
model = pytest.importorskip("inspect_ai.model")


def evaluate(
    scorer: Any, answers: list[str], log_dir: Path, samples: list[Any] | None = None, **options: Any
) -> Any:
    outputs = [model.ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    for output in outputs:
        output.usage = model.ModelUsage()  # else Inspect counts tokens with a file from the network
    samples = samples or [dataset.Sample(input="2 + 2 = ?", target="4") for _ in answers]
    task = inspect_ai.Task(dataset=samples, scorer=scorer)
    mock = model.get_model("mockllm/model", custom_outputs=outputs)
    [log] = inspect_ai.eval(
        task, model=mock, log_dir=str(log_dir), display="none", max_samples=1, **options
    )
    return log


def test_rewards_are_values_and_metrics(tmp_path: Path) -> None:
    scorer = adapter.scorer(config(), verifiers=[service])
    log = evaluate(scorer, [RIGHT, WRONG, RIGHT], tmp_path)
    assert log.status == "success", log.error
    [score] = log.results.scores
    assert score.metrics["mean"].value == pytest.approx(2 / 3)
    assert score.metrics["stderr"].value > 0
    assert score.metrics["latency_ms"].value > 0
    first = log.samples[0].scores["assay"]
    assert first.answer == "4"
    assert first.explanation.startswith("correct: 1")
    assert first.metadata["assay"]["outcome"] == "scored"


def test_rewards_are_those_of_the_engine(tmp_path: Path) -> None:
    log = evaluate(adapter.scorer(config(reward=UNEVEN)), [RIGHT, WRONG], tmp_path)
    found = [sample.scores["assay"].value for sample in log.samples]
    assert found == rewards([RIGHT, WRONG]) == [0.7999999999999999, 0.1]


def test_a_fault_is_unscored_and_no_zero(tmp_path: Path) -> None:
    scorer = adapter.scorer(config(), verifiers=[service], max_fault_rate=1.0)
    log = evaluate(scorer, [RIGHT, BROKEN, RIGHT], tmp_path)
    [score] = log.results.scores
    assert score.metrics["mean"].value == 1.0
    assert (score.scored_samples, score.unscored_samples) == (2, 1)
    fault = log.samples[1].scores["assay"]
    assert math.isnan(fault.value)
    assert fault.reason == "scoring_failed"
    assert "the service is down" in fault.metadata["assay"]["outcome"]


def test_no_target_is_unscored(tmp_path: Path) -> None:
    samples = [dataset.Sample(input="2 + 2 = ?")]
    log = evaluate(adapter.scorer(config(), verifiers=[service]), [RIGHT], tmp_path, samples)
    score = log.samples[0].scores["assay"]
    assert math.isnan(score.value)
    assert score.reason == "abstained"


def test_several_targets_and_metadata_are_read(tmp_path: Path) -> None:
    several = [dataset.Sample(input="2 + 2 = ?", target=["five", "4"])]
    log = evaluate(adapter.scorer(config(), verifiers=[service]), [RIGHT], tmp_path, several)
    assert log.samples[0].scores["assay"].value == 1.0
    named = config(data={"reference": "gold"})
    samples = [dataset.Sample(input="2 + 2 = ?", target="7", metadata={"gold": "4"})]
    log = evaluate(adapter.scorer(named, verifiers=[service]), [RIGHT], tmp_path, samples)
    assert log.samples[0].scores["assay"].value == 1.0


def test_too_many_faults_stop_the_evaluation(tmp_path: Path) -> None:
    scorer = adapter.scorer(config(), verifiers=[service], max_fault_rate=0.5)
    log = evaluate(scorer, [BROKEN] * 60, tmp_path)
    assert log.status == "error"
    assert "of the last 50 samples could not be judged" in log.error.message


def test_raise_fails_the_sample(tmp_path: Path) -> None:
    scorer = adapter.scorer(config(), verifiers=[service], on_fault="raise")
    log = evaluate(scorer, [BROKEN], tmp_path)
    assert log.status == "error"
    assert "the service is down" in log.error.message


def test_a_log_is_scored_again_by_its_own_settings(tmp_path: Path) -> None:
    path = tmp_path / "assay.json"
    path.write_text(json.dumps({"version": 1, "reward": [{"name": "correct", "verifier": "math"}]}))
    log = evaluate(adapter.scorer(path), [RIGHT, WRONG], tmp_path)
    assert log.eval.scorers[0].options == {"config": str(path)}
    again = inspect_ai.score(log, adapter.scorer(path), action="overwrite", display="none")
    assert again.results.scores[0].metrics["mean"].value == 0.5


def test_epochs_are_reduced(tmp_path: Path) -> None:
    samples = [dataset.Sample(input="2 + 2 = ?", target="4")]
    scorer = adapter.scorer(config(), verifiers=[service])
    log = evaluate(scorer, [RIGHT, WRONG], tmp_path, samples, epochs=2)
    assert log.results.scores[0].metrics["mean"].value == 0.5


PARTS = [
    *config()["reward"],
    {"name": "short", "verifier": "length", "weight": 0.5, "config": {"max": 25}},
    {"name": "asked", "verifier": "length", "weight": 0.0, "config": {"max": 25}, "when": "false"},
]


def test_parts_are_values_with_metrics_of_their_own(tmp_path: Path) -> None:
    scorer = adapter.scorer(config(reward=PARTS), parts=True, verifiers=[service], max_fault_rate=1.0)
    long = f"After some thought: {WRONG}"
    log = evaluate(scorer, [RIGHT, BROKEN, long], tmp_path)
    assert log.status == "success", log.error
    value = log.samples[0].scores["assay_parts"].value
    assert (value["reward"], value["correct"], value["short"]) == (1.5, 1.0, 1.0)
    assert math.isnan(value["asked"])
    assert math.isnan(log.samples[1].scores["assay_parts"].value)
    scores = {score.name: score for score in log.results.scores}
    assert scores["reward"].metrics["mean"].value == 0.75
    assert scores["short"].metrics["mean"].value == 0.5
    assert scores["short"].metrics["stderr"].value > 0
    assert (scores["reward"].scored_samples, scores["reward"].unscored_samples) == (2, 1)
    assert scores["asked"].scored_samples == 0


def test_parts_of_epochs_are_reduced(tmp_path: Path) -> None:
    samples = [dataset.Sample(input="2 + 2 = ?", target="4")]
    scorer = adapter.scorer(config(reward=PARTS), parts=True, verifiers=[service], max_fault_rate=1.0)
    log = evaluate(scorer, [RIGHT, BROKEN, WRONG], tmp_path, samples, epochs=3)
    scores = {score.name: score for score in log.results.scores}
    assert scores["correct"].metrics["mean"].value == 0.5
    assert scores["reward"].metrics["mean"].value == 1.0


def test_the_documented_lines(tmp_path: Path) -> None:
    output = model.ModelOutput.from_content("mockllm/model", "It is \\boxed{42}.")
    output.usage = model.ModelUsage()
    mock = model.get_model("mockllm/model", custom_outputs=[output])
    sums = documented("inspect.md")["sums"]()
    [log] = inspect_ai.eval(sums, model=mock, log_dir=str(tmp_path), display="none")
    assert log.results.scores[0].metrics["mean"].value == 1.0
