"""Where a training stands: scheduled weights, shapes, and what shapes know from call to call."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import assay
import pytest
from assay import _workers
from conftest import config

RIGHT = {"name": "right", "verifier": "exact"}
LATE = {**RIGHT, "weight": {"kind": "linear", "from": 0.0, "to": 1.0, "start": 10, "end": 20}}
CUT = {**RIGHT, "shape": [{"kind": "overlong", "max": 5, "cache": 4, "unit": "characters"}]}
SEEN = {**RIGHT, "shape": [{"kind": "normalise_running", "name": "right", "warmup": 2, "std": "biased"}]}

# The rewards of `right` are 1, 0, 1, 1; those of the groups normalise to 1/sqrt(2), -1/sqrt(2), 0, 0.
ROWS = [
    {"completion": completion, "reference": reference, "q": group}
    for completion, reference, group in [("a", "a", "x"), ("b", "a", "x"), ("b", "b", "y"), ("b", "b", "y")]
]


def rewards(engine: assay.Engine, rows: list[dict[str, Any]], **training: Any) -> list[float | None]:
    """The rewards of rows, which every way of scoring must give alike."""
    scored = engine.score(rows, **training)
    assert asyncio.run(engine.score_async(rows, **training)) == scored
    return [one.reward for one in scored]


@pytest.mark.parametrize(("step", "weight"), [(0, 0.0), (10, 0.0), (15, 0.5), (20, 1.0), (99, 1.0)])
def test_a_weight_follows_the_step(step: int, weight: float) -> None:
    base = {"name": "base", "verifier": "exact"}
    engine = assay.Engine(config(LATE, base))
    assert rewards(engine, ROWS, step=step) == [1.0 + weight, 0.0, 1.0 + weight, 1.0 + weight]
    assert rewards(engine, ROWS, state={"step": step}) == rewards(engine, ROWS, step=step)


def test_the_step_that_is_given_wins_over_the_state() -> None:
    engine = assay.Engine(config(LATE, RIGHT | {"name": "base"}))
    assert rewards(engine, ROWS[:1], step=20, state={"step": 10, "values": {"accuracy": 0.5}}) == [2.0]
    with pytest.raises(ValueError, match="state: unknown field `stp`"):
        engine.score(ROWS, state={"stp": 1})


def test_shapes_come_before_the_sum_and_groups_after() -> None:
    engine = assay.Engine(
        config(CUT, LATE | {"name": "late"}, data={"group": "q"}, combine={"normalise": "then_sum", "eps": 0.0})
    )
    half = 2**-0.5
    assert rewards(engine, ROWS, step=0) == pytest.approx([half, -half, 0.0, 0.0])
    assert rewards(engine, ROWS, step=20) == pytest.approx([2 * half, -2 * half, 0.0, 0.0])
    # Three characters are over the limit by half of what is allowed for.
    long = [{"completion": "aaa", "reference": "aaa", "q": "x"}]
    [scored] = engine.score(long)
    assert scored.verdicts["right"].reward == pytest.approx(0.5)
    assert scored.reward == 0.0, "it has nothing to be compared with"


def test_an_explanation_has_the_weights_of_its_step() -> None:
    engine = assay.Engine(config(LATE, CUT | {"name": "cut"}))
    sample = {"completion": "aaa", "reference": "aaa"}
    early, late = engine.explain(sample, step=15), engine.explain(sample, state={"step": 20})
    assert "0.5" in str(early) and "1.0" in str(early)
    assert "1.5" in str(late) and str(early) != str(late)


def test_a_run_knows_the_step_and_the_state(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    engine = assay.Engine(config(LATE, SEEN | {"name": "seen"}), cache=False)
    state = {"moments": {"right": {"count": 4, "mean": 0.5, "m2": 1.0}}}
    summary = engine.score_file(data, tmp_path / "run", step=15, state=state)
    lines = [json.loads(line) for line in (tmp_path / "run" / "verdicts.jsonl").read_text().splitlines()]
    assert [line["reward"] for line in lines] == rewards(engine, ROWS, step=15, state=state) == [1.5, -1.0, 1.5, 1.5]
    assert summary["total"]["mean"] == pytest.approx(0.875)
    with pytest.raises(assay.RunError, match="training"):
        engine.score_file(data, tmp_path / "run", step=16, state=state)


def test_the_next_state_has_seen_the_rewards_as_judged() -> None:
    engine = assay.Engine(config(SEEN))
    first = engine.score(ROWS)
    assert [one.reward for one in first] == [1.0, 0.0, 1.0, 1.0], "nothing was seen yet"
    state = engine.next_state({"values": {"accuracy": 0.5}}, first)
    assert state["moments"] == {"right": {"count": 4, "mean": 0.75, "m2": pytest.approx(0.75)}}
    assert state["values"] == {"accuracy": 0.5}
    second = engine.score(ROWS, step=7, state=state)
    spread = (0.75 / 4) ** 0.5
    high, low = 0.25 / spread, -0.75 / spread
    assert [one.reward for one in second] == pytest.approx([high, low, high, high])
    both = engine.next_state(state, iter(second))["moments"]["right"]
    assert (both["count"], both["mean"]) == (8, 0.75)
    assert json.loads(json.dumps(state)) == state
    plain = assay.Engine(config(RIGHT))
    assert plain.next_state(None, plain.score(ROWS)) == {"step": 0}


def test_tables_and_workers_know_the_state() -> None:
    pyarrow: Any = pytest.importorskip("pyarrow")
    state = {"step": 3, "moments": {"right": {"count": 4, "mean": 0.5, "m2": 1.0}}}
    table = pyarrow.Table.from_pylist(ROWS)
    engine = assay.Engine(config(SEEN))
    expected = rewards(engine, ROWS, state=state)
    assert engine.score_arrow(table, state=state)["reward"].to_pylist() == expected == [1.0, -1.0, 1.0, 1.0]
    job = _workers.job(config(SEEN), [], 0, state, "stop", {})
    assert job.score(table)["reward"].to_pylist() == expected
