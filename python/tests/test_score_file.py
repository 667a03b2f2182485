"""Files scored into run folders, shards, and what stops them."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import assay
import pytest


def engine(**options: Any) -> assay.Engine:
    config = {"version": 1, "reward": [{"name": "right", "verifier": "exact"}]}
    return assay.Engine(config, cache=False, **options)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """300 rows, every second of which is right."""
    lines = [{"completion": str(at), "reference": str(at - at % 2)} for at in range(300)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def lines_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "verdicts.jsonl").read_text().splitlines()]


def test_a_file_is_scored_as_its_rows_are(rows: Path, tmp_path: Path) -> None:
    judge, run = engine(), tmp_path / "run"
    summary = judge.score_file(rows, run)
    assert summary["rows"] == 300
    assert summary["total"]["mean"] == 0.5
    assert summary["rewards"][0]["name"] == "right"
    assert json.loads((run / "summary.json").read_text()) == summary
    samples = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [scored.reward for scored in judge.score(samples)] == [
        line["reward"] for line in lines_of(run)
    ]
    assert judge.score_file(str(rows), str(run)) == summary, "it is complete already"


def test_progress_is_told_to_a_function(rows: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int, int]] = []
    engine().score_file(
        [rows], tmp_path / "run", progress=lambda *counts: told.append(counts), format="parquet"
    )
    size = rows.stat().st_size
    assert told[-1] == (300, size, size)
    assert told == sorted(told)
    assert (tmp_path / "run" / "verdicts.parquet").exists()


def test_progress_is_a_line(rows: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine().score_file(rows, tmp_path / "run", progress=True)
    captured = capsys.readouterr()
    assert captured.err.endswith("300 rows, 100.0%\n")
    assert captured.out == ""


def test_what_progress_raises_stops_the_run(rows: Path, tmp_path: Path) -> None:
    def refuse(*counts: int) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        engine().score_file(rows, tmp_path / "run", progress=refuse)
    assert engine().score_file(rows, tmp_path / "run")["rows"] == 300


def test_shards_merge_into_the_bytes_of_one_run(rows: Path, tmp_path: Path) -> None:
    judge, whole, parts = engine(), tmp_path / "whole", tmp_path / "parts"
    summary = judge.score_file(rows, whole)
    assert judge.score_file(rows, parts, shard="0/3")["rows"] == 108
    judge.score_file(rows, parts, shard=(1, 3))
    with pytest.raises(assay.RunError, match="shards are missing: 2/3"):
        assay.merge(parts, tmp_path / "merged")
    judge.score_file(rows, parts, shard=(2, 3))
    assert assay.merge(parts, tmp_path / "merged") == summary
    folders = [parts / f"shard-0000{at}-of-00003" for at in range(3)]
    assert assay.merge(reversed(folders), parts, format="parquet") == summary
    expected = (whole / "verdicts.jsonl").read_bytes()
    for run in (tmp_path / "merged", parts):
        assert (run / "verdicts.jsonl").read_bytes() == expected
        manifest = json.loads((run / "manifest.json").read_text())
        assert manifest["verdicts_sha256"] == hashlib.sha256(expected).hexdigest()
    assert (parts / "verdicts.parquet").exists()


def test_bad_rows_and_limits(rows: Path, tmp_path: Path) -> None:
    with rows.open("a") as file:
        file.write("no json\n")
    judge = engine()
    with pytest.raises(assay.RunError, match=r"rows\.jsonl:301"):
        judge.score_file(rows, tmp_path / "stop")
    assert len(lines_of(tmp_path / "stop")) == 300, "rows that were written stay"
    assert judge.score_file(rows, tmp_path / "skip", bad_rows="skip")["skipped"] == 1
    summary = judge.score_file(rows, tmp_path / "fault", bad_rows="fault")
    assert summary["total"]["faults"] == {"BadInput": 1}
    assert judge.score_file(rows, tmp_path / "part", limit=7)["rows"] == 7


def test_faults_are_judged_again(rows: Path, tmp_path: Path) -> None:
    broken = True

    @assay.verifier
    def flaky(sample: assay.Sample) -> bool:
        if broken and sample.completion.endswith("3"):
            raise RuntimeError("the service is down")
        return True

    config = {"version": 1, "reward": [{"name": "a", "verifier": "flaky"}]}
    judge = assay.Engine(config, verifiers=[flaky], cache=False)
    run = tmp_path / "run"
    assert judge.score_file(rows, run)["total"]["failed"] == 30
    broken = False
    assert judge.score_file(rows, run)["total"]["failed"] == 30, "it is complete already"
    assert judge.score_file(rows, run, retry_faults=True)["total"]["failed"] == 0


def test_other_data_want_another_folder(rows: Path, tmp_path: Path) -> None:
    judge, run = engine(), tmp_path / "run"
    judge.score_file(rows, run)
    rows.write_text('{"completion": "a"}\n')
    with pytest.raises(assay.RunError, match="other data"):
        judge.score_file(rows, run)
    assert judge.score_file(rows, run, fresh=True)["rows"] == 1


def test_what_cannot_be_is_refused(rows: Path, tmp_path: Path) -> None:
    judge, run = engine(), tmp_path / "run"
    with pytest.raises(ValueError, match="the last of 2 is 1/2"):
        judge.score_file(rows, run, shard=(2, 2))
    with pytest.raises(ValueError, match="expected 'I/N'"):
        judge.score_file(rows, run, shard="first")
    with pytest.raises(ValueError, match="bad_rows"):
        judge.score_file(rows, run, bad_rows="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="format"):
        judge.score_file(rows, run, format="csv")  # type: ignore[arg-type]
    with pytest.raises(assay.RunError, match="no such file"):
        judge.score_file(tmp_path / "none.jsonl", run)
    assert not run.exists()


@pytest.mark.usefixtures("sigint")
def test_ctrl_c_keeps_what_was_written(rows: Path, tmp_path: Path) -> None:
    @assay.verifier
    def slow(sample: assay.Sample) -> bool:
        time.sleep(0.02)
        return True

    config = {"version": 1, "reward": [{"name": "a", "verifier": "slow"}]}
    judge = assay.Engine(config, verifiers=[slow], cache=False, jobs=2)
    verdicts = tmp_path / "run" / "verdicts.jsonl"

    def interrupt() -> None:
        for _ in range(6000):
            if verdicts.exists() and verdicts.stat().st_size > 0:
                break
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        judge.score_file(rows, tmp_path / "run")
    thread.join()
    written = len(lines_of(tmp_path / "run"))
    assert 0 < written < 300
    assert judge.score_file(rows, tmp_path / "run")["rows"] == 300
    ids = [line["id"] for line in lines_of(tmp_path / "run")]
    assert len(set(ids)) == 300


def test_other_threads_run_meanwhile(rows: Path, tmp_path: Path) -> None:
    judge, counted = engine(), 0
    thread = threading.Thread(target=judge.score_file, args=(rows, tmp_path / "run"))
    thread.start()
    while thread.is_alive():
        counted += 1
    thread.join()
    assert counted > 0
    assert len(lines_of(tmp_path / "run")) == 300
