"""Scoring on Ray: the same lines as on one machine, also where a worker is killed half-way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assay
import assay.ray
import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

ROWS = [
    {"id": f"q{at}", "completion": f"So it is {at % 7}.", "reference": str(at % 5), "kind": at % 3}
    for at in range(4000)
]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=200 << 20, logging_level="ERROR")
    yield
    ray.shutdown()


def reward(name: str, verifier: str) -> dict[str, Any]:
    return {"name": name, "verifier": verifier}


def dataset() -> Any:
    """The rows in twenty blocks."""
    return ray.data.from_items(ROWS, override_num_blocks=20)


def lines(scored: Any) -> bytes:
    tables = scored.iter_batches(batch_format="pyarrow", batch_size=None)
    return b"".join(line for table in tables for line in assay.verdict_lines(table))


def test_a_killed_worker_loses_and_repeats_nothing(tmp_path: Path) -> None:
    killed, workers = tmp_path / "killed", tmp_path / "workers"
    workers.mkdir()

    @assay.verifier
    def deadly(sample: assay.Sample) -> float:
        """Ends the worker that first meets a row in the middle."""
        (workers / str(os.getpid())).touch()
        if sample.id == "q2100" and not killed.exists():
            killed.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0

    config = {"version": 1, "reward": [reward("correct", "math"), reward("alive", "deadly")]}
    options: dict[str, Any] = {"verifiers": [deadly], "cache": False}
    scored = assay.ray.score(dataset(), config, concurrency=2, batch_size=100, keep=["kind"], **options)
    found = lines(scored.materialize())
    assert killed.exists()
    assert len(list(workers.iterdir())) >= 3, "two workers, and the one that took the place of the killed"
    expected = assay.Engine(config, **options).score(ROWS)
    assert found == b"".join(assay.verdict_lines(expected))


def test_columns_that_are_kept_stay_with_their_rows() -> None:
    config = {"version": 1, "reward": [reward("correct", "math")]}
    scored = assay.ray.score(dataset(), config, concurrency=(1, 2), keep=["kind"])
    kinds = {row["id"]: row["kind"] for row in scored.iter_rows()}
    assert kinds == {row["id"]: row["kind"] for row in ROWS}


def test_errors_reach_the_driver() -> None:
    with pytest.raises(assay.ConfigError, match="verifer"):
        assay.ray.score(dataset(), {"version": 1, "reward": [{"name": "a", "verifer": "math"}]})
    config = {"version": 1, "reward": [reward("correct", "math")]}
    bad = ray.data.from_items([{"id": "a", "reference": "4"}])
    with pytest.raises(Exception, match="row 1: completion: missing or null; the row has: id, reference"):
        assay.ray.score(bad, config, concurrency=1).materialize()
    grouped = {**config, "combine": {"on_fault": "drop_group"}}
    with pytest.raises(Exception, match="samples of a group need the group in one piece"):
        assay.ray.score(dataset(), grouped, concurrency=1).materialize()
