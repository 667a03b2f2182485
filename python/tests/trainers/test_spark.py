"""Scoring on a local Spark: the same lines as on one machine."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assay
import assay.spark
import pytest

sql = pytest.importorskip("pyspark.sql")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java", allow_module_level=True)

CONFIG = {"version": 1, "reward": [{"name": "correct", "verifier": "math"}]}
ROWS = [
    {"id": f"q{at:04}", "completion": f"So it is {at % 7}.", "reference": str(at % 5), "kind": at % 3}
    for at in range(2000)
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    yield session
    session.stop()


def test_rows_have_the_lines_of_one_machine(spark: Any) -> None:
    frame = spark.createDataFrame(ROWS).repartition(4)
    scored = assay.spark.score(frame, CONFIG, keep=["kind"])
    assert scored.columns[:4] == ["kind", "id", "group", "outcome"]
    table = scored.orderBy("id").toArrow()
    expected = b"".join(assay.verdict_lines(assay.Engine(CONFIG).score(ROWS)))
    assert b"".join(assay.verdict_lines(table)) == expected
    assert table["kind"].to_pylist() == [row["kind"] for row in ROWS]


def test_errors_name_the_row(spark: Any) -> None:
    frame = spark.createDataFrame([{"id": "a", "reference": "4"}])
    with pytest.raises(Exception, match="row 1: completion: missing or null"):
        assay.spark.score(frame, CONFIG).collect()


def test_functions_travel_to_the_workers(spark: Any) -> None:
    @assay.verifier
    def even(sample: assay.Sample) -> float:
        return float(len(sample.completion) % 2 == 0)

    config = {"version": 1, "reward": [{"name": "even", "verifier": "even"}]}
    frame = spark.createDataFrame([{"completion": "ab"}, {"completion": "abc"}])
    scored = assay.spark.score(frame, config, verifiers=[even], cache=False)
    assert sorted(row["reward.even"] for row in scored.collect()) == [0.0, 1.0]


def test_a_killed_worker_loses_and_repeats_nothing(spark: Any, tmp_path: Path) -> None:
    killed = tmp_path / "killed"

    @assay.verifier
    def deadly(sample: assay.Sample) -> float:
        """Ends the worker that first meets a row in the middle."""
        if sample.id == "q1100" and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 1.0

    config = {"version": 1, "reward": [{"name": "alive", "verifier": "deadly"}]}
    options: dict[str, Any] = {"verifiers": [deadly], "cache": False}
    frame = spark.createDataFrame(ROWS).repartition(4)
    scored = assay.spark.score(frame, config, **options).orderBy("id").toArrow()
    assert killed.exists()
    expected = b"".join(assay.verdict_lines(assay.Engine(config, **options).score(ROWS)))
    assert b"".join(assay.verdict_lines(scored)) == expected
