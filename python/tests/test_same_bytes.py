"""The same samples have the same verdicts, byte for byte, whatever way they are scored."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import assay
import pytest
from conftest import FIXTURES

ROWS = 700


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real answers: GSM8K without ids for some, MMLU-Pro, and rows that earn nothing or fail."""
    folder = tmp_path_factory.mktemp("data")
    rows: list[dict[str, Any]] = []
    for name in ("gsm8k-openai", "mmlu-pro"):
        with gzip.open(FIXTURES / "datasets" / f"{name}.jsonl.gz", "rt") as lines:
            rows += [json.loads(line) for line, _ in zip(lines, range(ROWS // 2), strict=False)]
    for at in range(0, len(rows), 7):
        del rows[at]["id"]
    for at in range(3, len(rows), 11):
        rows[at]["reference"] = ""
    for at in range(5, len(rows), 13):
        rows[at]["reference"] = None
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "rows.jsonl"


CONFIG = FIXTURES / "datasets" / "demo.toml"


def digest(lines: Iterable[bytes]) -> str:
    """The SHA-256 of verdict lines."""
    sha256 = hashlib.sha256()
    for line in lines:
        sha256.update(line)
    return sha256.hexdigest()


def run(*arguments: object) -> None:
    """Runs the command."""
    command = [sys.executable, "-m", "assay", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def expected(data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the run of the command."""
    folder = tmp_path_factory.mktemp("run") / "run"
    run("score", CONFIG, data, "--output", folder, "--quiet")
    return digest([(folder / "verdicts.jsonl").read_bytes()])


def rows_of(data: Path) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in data.read_text().splitlines()]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_call(data: Path, expected: str, jobs: int) -> None:
    engine = assay.Engine(CONFIG, jobs=jobs)
    assert digest(assay.verdict_lines(engine.score(rows_of(data)))) == expected


def test_calls_under_asyncio(data: Path, expected: str) -> None:
    engine, rows = assay.Engine(CONFIG), rows_of(data)

    async def parts() -> list[assay.Scored]:
        calls = [engine.score_async(rows[at : at + 50]) for at in range(0, len(rows), 50)]
        return [one for part in await asyncio.gather(*calls) for one in part]

    assert digest(assay.verdict_lines(asyncio.run(parts()))) == expected


def test_a_file(data: Path, expected: str, tmp_path: Path) -> None:
    assay.Engine(CONFIG).score_file(data, tmp_path / "run")
    assert digest([(tmp_path / "run" / "verdicts.jsonl").read_bytes()]) == expected


def test_shards(data: Path, expected: str, tmp_path: Path) -> None:
    engine = assay.Engine(CONFIG)
    engine.score_file(data, tmp_path / "run", shard="0/3")
    run("score", CONFIG, data, "--output", tmp_path / "run", "--shard", "1/3", "--quiet")
    engine.score_file(data, tmp_path / "run", shard=(2, 3))
    run("merge", tmp_path / "run", "--output", tmp_path / "merged", "--quiet")
    assert digest([(tmp_path / "merged" / "verdicts.jsonl").read_bytes()]) == expected


def test_a_table(data: Path, expected: str) -> None:
    pyarrow_json = pytest.importorskip("pyarrow.json")
    table = pyarrow_json.read_json(data)
    verdicts = assay.Engine(CONFIG).score_arrow(table)
    assert digest(assay.verdict_lines(verdicts)) == expected
