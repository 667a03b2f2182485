"""The engine: configurations in, samples in, results out, errors."""

from __future__ import annotations

import datetime
import decimal
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import assay
import pytest
from conftest import FIXTURES, MATH, config


def test_a_configuration_is_a_mapping_a_text_or_a_path(tmp_path: Path) -> None:
    text = 'version = 1\n[[reward]]\nname = "correct"\nverifier = "math"\n'
    path = tmp_path / "assay.toml"
    path.write_text(text)
    engines = [assay.Engine(MATH), assay.Engine(text), assay.Engine(path)]
    engines += [assay.Engine.from_toml(str(path), jobs=1)]
    scored = [engine.score(completions=["4"], references=["4.0"])[0] for engine in engines]
    assert [one.reward for one in scored] == [1.0] * 4
    assert len({one.to_json() for one in scored}) == 1
    assert engines[-1].jobs == 1


def test_rows_and_lists_are_the_same_samples() -> None:
    engine = assay.Engine(config({"name": "c", "verifier": "math"}, data={"reference": "meta.gold", "group": "q"}))
    rows = [{"id": 7, "completion": "4", "q": "a", "kind": "x", "meta": {"gold": 4}}]
    from_rows = engine.score(rows)
    from_lists = engine.score(
        completions=["4"], ids=[7], groups=["a"], columns={"kind": ["x"], "meta": [{"gold": 4}]}
    )
    assert from_rows == from_lists
    assert (from_rows[0].id, from_rows[0].group, from_rows[0].reward) == ("7", "a", 1.0)


def test_lines_are_those_of_the_command_line(math: assay.Engine) -> None:
    [scored] = math.score([{"id": "a", "completion": "x = 4", "reference": "5"}])
    line = scored.to_json()
    assert line.startswith('{"id":"a","outcome":"scored","reward":0.0,"verdicts":{"correct":')
    assert assay.Scored.from_json(line) == scored
    assert pickle.loads(pickle.dumps(scored)) == scored
    assert "correct" in scored.spent_us
    verdict = scored.verdicts["correct"]
    assert (verdict.verifier, verdict.version) == ("math", math.config["reward"][0]["verifier_version"])
    assert assay.Scored.from_json(line).verdicts["correct"].verifier is None


def test_conversations_are_judged_by_their_last_message(math: assay.Engine) -> None:
    turns = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "It is 4."}]
    assert math.score(completions=[turns], references=[4])[0].reward == 1.0


def test_what_is_no_reward_is_none(math: assay.Engine) -> None:
    [scored] = math.score(completions=["4"])
    assert (scored.outcome, scored.reward, scored.fault) == ("abstained", None, None)
    assert scored.verdicts["correct"].why == "the sample has no reference"
    [failed] = math.score(completions=["4"], references=[""])
    assert (failed.outcome, failed.reward, failed.fault) == ("failed", None, "BadReference")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (True, True),
        (1 << 62, 1 << 62),
        ((1 << 64) - 1, (1 << 64) - 1),
        (0.5, 0.5),
        ((1, "a"), [1, "a"]),
        ({"b": None, "a": [None]}, {"a": [None]}),
        (decimal.Decimal("1.50"), "1.50"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (b"bytes", "bytes"),
        (range(3), [0, 1, 2]),
    ],
)
def test_values_of_python_are_values_of_a_row(value: object, found: object) -> None:
    @assay.verifier
    def told(sample: assay.Sample) -> assay.Verdict:
        return assay.Verdict.scored(1, evidence={"value": sample.meta["value"]})

    engine = assay.Engine(config({"name": "told", "verifier": "told"}), verifiers=[told])
    [scored] = engine.score([{"completion": "c", "value": value}])
    assert scored.verdicts["told"].evidence == {"value": found}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ({"completions": ["a"], "references": ["a", "b"]}, assay.DataError, "2 values, but completion has 1"),
        ({"completions": [3]}, assay.DataError, "sample 0: completion: expected text or messages"),
        ({"completions": "text"}, assay.DataError, "found text"),
        ({"completions": ["a"], "references": [float("nan")]}, assay.DataError, "NaN"),
        ({"completions": ["\ud800"]}, assay.DataError, "surrogate"),
        ({"completions": ["a"], "columns": {"x": [object()]}}, assay.DataError, r"x\[0\]: a value of type object"),
        ({"completions": ["a"], "columns": {"x": [{1: 2}]}}, assay.DataError, "keys must be text"),
        ({"completions": ["a"], "groups": ["a"]}, assay.ConfigError, "data.group"),
        ({"completions": ["a"], "timeout": -1.0}, ValueError, "timeout"),
        ({}, TypeError, "nothing to score"),
    ],
)
def test_what_cannot_be_read_is_named(math: assay.Engine, call: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        math.score(**call)


def test_a_row_that_cannot_be_read_is_named(math: assay.Engine) -> None:
    with pytest.raises(assay.DataError, match=r"samples\[1\]: completion: missing or null; the row has: answer"):
        math.score([{"completion": "a"}, {"answer": "b"}])
    with pytest.raises(assay.DataError, match="expected a dict, found list"):
        math.score([["a"]])  # type: ignore[list-item]
    deep: Any = "x"
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(assay.DataError, match="nested"):
        math.score([{"completion": "a", "x": deep}])
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(assay.DataError, match="nested"):
        math.score([{"completion": "a", "x": circle}])


def test_a_bad_configuration_points_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "assay.toml"
    path.write_text('version = 1\n[[reward]]\nname = "a"\nverifier = "math"\nwieght = 3\n')
    with pytest.raises(assay.ConfigError) as error:
        assay.Engine(path)
    assert f"{path}:5:1: " in str(error.value)
    assert "\n  ^^^^^^\nhelp: did you mean `weight`?" in str(error.value)
    with pytest.raises(assay.ConfigError, match="Engine.from_toml"):
        assay.Engine("assay.toml")
    with pytest.raises(assay.ConfigError, match="nowhere.toml"):
        assay.Engine(Path("nowhere.toml"))
    with pytest.raises(assay.ConfigError, match="JSON serializable"):
        assay.Engine({"version": object()})
    assert issubclass(assay.ConfigError, assay.AssayError)


def test_settings_are_set_over_the_configuration() -> None:
    settings = {"reward.correct.weight": 0.5, "combine.clamp": [0, 0.25]}
    engine = assay.Engine(MATH, settings=settings)
    assert engine.score(completions=["4"], references=["4"])[0].reward == 0.25
    assert engine.config["reward"][0]["weight"] == 0.5
    assert engine.config["reward"][0]["verifier_version"] >= 4


def test_files_lie_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"type": "integer"}')
    path = tmp_path / "assay.toml"
    path.write_text('version=1\n[[reward]]\nname="j"\nverifier="json"\nconfig={schema_file="schema.json"}\n')
    engine = pickle.loads(pickle.dumps(assay.Engine(path)))
    rewards = [scored.reward for scored in engine.score(completions=["3", '"a"'])]
    assert rewards == [1.0, 0.0]


def test_steps_reach_conditions_and_time_is_bounded() -> None:
    engine = assay.Engine(config({"name": "c", "verifier": "exact", "when": "step > 2"}))
    [early] = engine.score(completions=["a"], references=["a"])
    [late] = engine.score(completions=["a"], references=["a"], step=3)
    assert (early.outcome, late.reward) == ("abstained", 1.0)

    @assay.verifier
    async def never(sample: assay.Sample) -> float:
        import asyncio

        await asyncio.sleep(3600)
        return 1.0

    slow = assay.Engine(config({"name": "n", "verifier": "never"}), verifiers=[never])
    [late] = slow.score(completions=["a"], timeout=0.05)
    assert (late.outcome, late.fault) == ("failed", "Timeout")


def test_whole_groups_lose_their_rewards() -> None:
    rewards = {"name": "c", "verifier": "math"}
    engine = assay.Engine(config(rewards, data={"group": "q"}, combine={"on_fault": "drop_group"}))
    scored = engine.score(completions=["4"] * 3, references=["4", "", "4"], groups=["a", "a", "b"])
    assert [one.reward for one in scored] == [None, None, 1.0]


def test_helpers() -> None:
    assert assay.math_equal("1/2", "0.5")
    assert not assay.math_equal("x > 2", r"x \ge 2")
    found = assay.extract_answer("é: so the answer is $18$.")
    assert found is not None
    assert found.text == "18"
    assert "é: so the answer is $18$.".encode()[found.span[0] : found.span[1]] == b"18"
    assert assay.extract_answer("") is None
    verdict = assay.check("math", completion="18", reference=18)
    assert (verdict.reward, verdict.outcome) == (1.0, "scored")
    with pytest.raises(assay.ConfigError, match='did you mean "math"'):
        assay.check("mth", completion="18")


def test_importing_brings_little() -> None:
    code = (
        "import sys, assay; heavy = {'asyncio', 'numpy', 'json', 'inspect', 'importlib.metadata', 'pyarrow'}"
        "; print(sorted(heavy & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, env={"PYTHONPATH": ":".join(sys.path)})
    assert told.stdout.strip() == "[]", told.stderr


def test_shipped_answers_agree_with_their_labels() -> None:
    import gzip
    import json

    path = FIXTURES / "datasets" / "gsm8k-openai.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    engine = assay.Engine(FIXTURES / "datasets" / "demo.toml")
    scored = engine.score(rows)
    agree = [one.reward == float(row["label"]) for one, row in zip(scored, rows, strict=True)]
    assert len(agree) > 1000
    assert sum(agree) >= 0.98 * len(agree)
