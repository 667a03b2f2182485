"""Tables through the engine: every kind of table, every type of column, and the same lines as a list."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Iterator
from typing import Any

import assay
import pytest
from conftest import MATH, config

pa = pytest.importorskip("pyarrow")

ROWS: list[dict[str, Any]] = [
    {"id": f"q{at}", "completion": f"So it is {at % 7}.", "reference": str(at % 5), "kind": "sum"}
    for at in range(1000)
] + [{"id": "none", "completion": "4"}, {"id": "broken", "completion": "4", "reference": ""}]

VERDICTS = ["id", "group", "outcome", "reward", "fault", "why", "reward.correct", "verdicts"]


def lines(verdicts: Any) -> bytes:
    return b"".join(assay.verdict_lines(verdicts))


@pytest.fixture
def expected(math: assay.Engine) -> bytes:
    return lines(math.score(ROWS))


def test_a_table_has_the_lines_of_a_list(math: assay.Engine, expected: bytes) -> None:
    table = pa.Table.from_pylist(ROWS)
    scored = math.score_arrow(table, keep=["kind", "reference"])
    assert isinstance(scored, pa.Table)
    assert scored.column_names == ["kind", "reference", *VERDICTS]
    assert scored["kind"].equals(table["kind"])
    assert lines(scored) == expected
    assert expected.count(b"\n") == len(ROWS) == scored.num_rows
    assert json.loads(scored["verdicts"][0].as_py())["correct"]["reward"] == 1.0
    assert scored["fault"][-1].as_py() == "BadReference"


def test_kept_columns_are_not_copied(math: assay.Engine) -> None:
    table = pa.table({"completion": ["4"] * 100, "n": pa.array(range(100), pa.int64())})
    kept = math.score_arrow(table, keep=["n"])["n"].chunk(0)
    assert kept.buffers()[1].address == table["n"].chunk(0).buffers()[1].address


def test_a_batch_gives_a_batch(math: assay.Engine, expected: bytes) -> None:
    batch = pa.RecordBatch.from_pylist(ROWS)
    scored = math.score_arrow(batch)
    assert isinstance(scored, pa.RecordBatch)
    assert lines(scored) == expected
    empty = math.score_arrow(batch.slice(0, 0))
    assert isinstance(empty, pa.RecordBatch)
    assert (empty.num_rows, empty.schema.names) == (0, VERDICTS)
    many = pa.RecordBatch.from_pydict({"completion": ["4"] * 70_000})
    assert math.score_arrow(many).num_rows == 70_000


def test_a_reader_is_scored_as_it_is_read(math: assay.Engine, expected: bytes) -> None:
    table, read = pa.Table.from_pylist(ROWS), []

    def batches() -> Iterator[Any]:
        for batch in table.to_batches(max_chunksize=100):
            read.append(batch.num_rows)
            yield batch

    scored = math.score_arrow(pa.RecordBatchReader.from_batches(table.schema, batches()))
    assert isinstance(scored, pa.RecordBatchReader)
    first = scored.read_next_batch()
    assert first.num_rows == 100
    assert len(read) < 4
    rest = scored.read_all()
    assert lines(first) + lines(rest) == expected


def test_polars(math: assay.Engine, expected: bytes) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(ROWS)
    scored = math.score_arrow(frame, keep=["kind"])
    assert isinstance(scored, pl.DataFrame)
    assert scored.columns == ["kind", *VERDICTS]
    assert scored["kind"].equals(frame["kind"])
    assert lines(scored) == expected
    assert math.score_arrow(frame.clear()).height == 0


def test_pandas(math: assay.Engine, expected: bytes) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS)
    frame.index = frame.index[::-1]
    scored = math.score_arrow(frame, keep=["kind"])
    assert isinstance(scored, pd.DataFrame)
    assert list(scored.columns) == ["kind", *VERDICTS]
    assert scored.index.equals(frame.index)
    assert scored["kind"].equals(frame["kind"])
    assert lines(scored) == expected


def test_datasets(math: assay.Engine, expected: bytes) -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list(ROWS)
    scored = math.score_arrow(data, keep=["kind"])
    assert isinstance(scored, datasets.Dataset)
    assert scored.column_names == ["kind", *VERDICTS]
    assert lines(scored) == expected
    chosen = math.score_arrow(data.select([5, 3, 900]))
    assert chosen["id"][:] == ["q5", "q3", "q900"]
    assert lines(chosen) == lines(math.score([ROWS[5], ROWS[3], ROWS[900]]))


def test_any_other_table_gives_a_stream(math: assay.Engine, expected: bytes) -> None:
    arro3 = pytest.importorskip("arro3.core")
    table = arro3.Table.from_arrow(pa.Table.from_pylist(ROWS))
    scored = math.score_arrow(table)
    assert isinstance(scored, assay.ArrowStream)
    assert lines(arro3.Table.from_arrow(scored)) == expected
    batches = list(math.score_arrow(arro3.RecordBatch.from_arrow(pa.RecordBatch.from_pylist(ROWS))))
    assert [len(batch) for batch in batches] == [len(ROWS)]
    assert b"".join(lines(batch) for batch in batches) == expected


def test_duckdb(math: assay.Engine, expected: bytes) -> None:
    duckdb = pytest.importorskip("duckdb")
    samples = duckdb.from_arrow(pa.Table.from_pylist(ROWS))
    scored: Any = math.score_arrow(samples)
    assert lines(pa.table(scored)) == expected


def test_a_stream_is_read_once(math: assay.Engine) -> None:
    arro3 = pytest.importorskip("arro3.core")
    stream: Any = math.score_arrow(arro3.Table.from_arrow(pa.table({"completion": ["4"]})))
    assert pa.table(stream).num_rows == 1
    with pytest.raises(assay.DataError, match="handed on"):
        pa.table(stream)


KINDS: dict[str, Any] = {
    "string": pa.array(["4", None], pa.string()),
    "large_string": pa.array(["4", None], pa.large_string()),
    "string_view": pa.array(["4", None], pa.string_view()),
    "binary": pa.array([b"4", None], pa.binary()),
    "large_binary": pa.array([b"4", None], pa.large_binary()),
    "dictionary": pa.array(["4", None]).dictionary_encode(),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 2], pa.array(["4", None])),
    "sliced": pa.array(["x", "4", None])[1:],
}


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_text_however_it_is_stored(math: assay.Engine, kind: str) -> None:
    table = pa.table({"completion": ["4", "4"], "reference": KINDS[kind]})
    outcomes = math.score_arrow(table)["outcome"].to_pylist()
    assert outcomes == ["scored", "abstained"]


METADATA: list[tuple[Any, Any]] = [
    (pa.array([[1, None], []], pa.list_(pa.int32())), [[1, None], []]),
    (pa.array([["a"], None], pa.large_list(pa.string())), [["a"], None]),
    (pa.array([["a", "b"], None], pa.list_(pa.string(), 2)), [["a", "b"], None]),
    (pa.array([["a"], None], pa.list_view(pa.string())), [["a"], None]),
    (pa.array([{"a": 1, "b": None}, None]), [{"a": 1}, None]),
    (pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())), [{"k": 1}, None]),
    (pa.array([1.5, None], pa.float16()), [1.5, None]),
    (pa.array([decimal.Decimal("1.50"), None]), ["1.50", None]),
    (pa.array([datetime.date(2024, 2, 29), None], pa.date64()), ["2024-02-29", None]),
    (pa.array([datetime.time(1, 2, 3), None]), ["01:02:03", None]),
    (pa.array([0, None], pa.timestamp("ms", "Europe/Berlin")), ["1970-01-01T00:00:00Z", None]),
    (pa.array([2**64 - 1, None], pa.uint64()), [2**64 - 1, None]),
    (pa.array([True, None]), [True, None]),
    (pa.nulls(2), [None, None]),
    (pa.array([b"0123456789abcdef", None], pa.uuid()), ["0123456789abcdef", None]),
]


@pytest.mark.parametrize(("column", "values"), METADATA, ids=lambda value: str(getattr(value, "type", "")))
def test_metadata_is_what_a_line_would_say(column: Any, values: list[Any]) -> None:
    @assay.verifier
    def tell(sample: assay.Sample) -> assay.Verdict:
        return assay.Verdict.scored(1.0, evidence={"meta": sample.meta})

    engine = assay.Engine(config({"name": "tell", "verifier": "tell"}), verifiers=[tell], cache=False)
    table = pa.table({"completion": ["a", "a"], "value": column})
    found = [
        json.loads(text)["tell"]["evidence"]["meta"]
        for text in engine.score_arrow(table)["verdicts"].to_pylist()
    ]
    assert found == [{"value": value} if value is not None else {} for value in values]


def test_what_cannot_be_read_is_named(math: assay.Engine) -> None:
    def fails(table: Any, **options: Any) -> str:
        with pytest.raises(assay.DataError) as raised:
            math.score_arrow(table, **options)
        return str(raised.value)

    text = pa.table({"completion": ["4", None]})
    assert fails(text) == "row 2: completion: missing or null; the row has: nothing"
    spans = pa.table({"completion": ["4"], "took": pa.array([1], pa.duration("s"))})
    assert fails(spans).startswith('table: column "took" is of type Duration(')
    invalid = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    assert fails(pa.table({"completion": invalid})) == "row 1: completion: bytes that are not UTF-8"
    ids = pa.table({"completion": ["4"], "id": ["a"]})
    assert "is the name of a column of verdicts" in fails(ids, keep=["id"])
    assert fails(ids, keep=["x"]) == 'keep: no column "x"; the table has: completion, id'
    with pytest.raises(TypeError, match="expected a list of names"):
        math.score_arrow(ids, keep="id")
    with pytest.raises(TypeError, match=r"list has no Arrow interface"):
        math.score_arrow([{"completion": "4"}])
    with pytest.raises(ValueError, match="bad_rows"):
        math.score_arrow(ids, bad_rows="skip")  # type: ignore[arg-type]


def test_bad_rows_may_be_faults(math: assay.Engine) -> None:
    table = pa.table({"completion": ["4", None, "4"], "reference": ["4", "4", "5"]})
    scored = math.score_arrow(table, bad_rows="fault")
    assert scored["outcome"].to_pylist() == ["scored", "failed", "scored"]
    assert scored["id"][1].as_py() == "row-2"
    why = scored["why"][1].as_py()
    assert why.startswith("row 2: completion: missing or null; the row has: reference")


def test_errors_come_out_of_readers_too(math: assay.Engine) -> None:
    table = pa.table({"completion": ["4"] * 10 + [None]})
    reader = math.score_arrow(table.to_reader(max_chunksize=10))
    assert reader.read_next_batch().num_rows == 10
    with pytest.raises(assay.DataError, match="row 11: completion"):
        reader.read_next_batch()


def test_groups_are_seen_whole() -> None:
    engine = assay.Engine(
        config(
            {"name": "first", "verifier": "math"}, data={"group": "q"}, combine={"on_fault": "drop_group"}
        )
    )
    assert engine.needs_groups
    rows = [
        {"completion": "4", "reference": gold, "q": q}
        for q, gold in [("a", "4"), ("b", "4"), ("a", ""), ("b", "5")]
    ]
    table = pa.Table.from_batches([pa.RecordBatch.from_pylist([row]) for row in rows])
    scored = engine.score_arrow(table)
    assert scored["outcome"].to_pylist() == ["abstained", "scored", "failed", "scored"]
    assert lines(scored) == lines(engine.score(rows))


def test_python_verifiers_and_deadlines_work_on_tables() -> None:
    @assay.verifier
    async def slow(sample: assay.Sample) -> float:
        import asyncio

        await asyncio.sleep(float(sample.completion))
        return 1.0

    engine = assay.Engine(config({"name": "slow", "verifier": "slow"}), verifiers=[slow], cache=False)
    table = pa.table({"completion": ["0", "600"]})
    scored = engine.score_arrow(table, timeout=1.0)
    assert scored["fault"].to_pylist() == [None, "Timeout"]


def test_other_tables_have_no_lines() -> None:
    with pytest.raises(assay.DataError, match='no column "id"'):
        list(assay.verdict_lines(pa.table({"completion": ["4"]})))


def test_an_engine_is_used_by_many_threads(expected: bytes) -> None:
    from concurrent.futures import ThreadPoolExecutor

    engine, table = assay.Engine(MATH), pa.Table.from_pylist(ROWS)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: lines(engine.score_arrow(table)), range(8))) == {expected}
