"""Tables of other libraries: how their rows are read, and how verdicts become a table of the same kind.

No library is imported here but that of the table that was passed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from assay import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from assay._core import ArrowStream, Scored

Table = TypeVar("Table")

HELD = (
    ("pyarrow", "Table"),
    ("pyarrow", "RecordBatch"),
    ("polars", "DataFrame"),
    ("pandas", "DataFrame"),
    ("datasets", "Dataset"),
)
"""Tables that are scored in the call. Others may be streams, which are read no further than asked."""

BATCH_ROWS = 65_536
"""How many rows of a dataset with an order of its own are put together at a time."""


class Streamable(Protocol):
    """Anything with the Arrow interface for tables."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def score(
    engine: _core.Engine,
    table: Table,
    keep: Sequence[str],
    options: tuple[str | None, float | None, bool],
    bad_rows: str,
) -> Table:
    """The verdicts of a table, as one of its kind; of a kind that is not known, as a stream."""
    if isinstance(keep, str):
        raise TypeError(f"keep: expected a list of names of columns, found the text {keep!r}")
    lazy = not any(_is(table, module, name) for module, name in HELD)
    stream = engine.score_arrow(source(table), list(keep), options, bad_rows, lazy)
    return cast("Table", _result(table, stream, keep))


def verdict_lines(verdicts: Streamable | Iterable[Scored] | object) -> Iterator[bytes]:
    """The lines that ``verdicts.jsonl`` of a run has for these verdicts, each with its line end.

    The same rows have the same lines whatever way they were scored, so that one digest over them
    compares a run of the command line with a call, a table, or a cluster.

    Args:
        verdicts: What :meth:`Engine.score_arrow` gave, or a list of :class:`Scored`. Of a table only
            the columns of verdicts are read.

    Raises:
        DataError: The table has no verdicts.

    >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
    >>> scored = engine.score(completions=["a"], references=["a"], ids=["x"])
    >>> b"".join(assay.verdict_lines(scored))[:46]
    b'{"id":"x","outcome":"scored","reward":1.0,"ver'
    """
    if isinstance(verdicts, (list, tuple)):
        for scored in cast("Iterable[Scored]", verdicts):
            yield f"{scored.to_json()}\n".encode()
        return
    for lines in _core.verdict_lines(source(verdicts)):
        yield from lines.splitlines(keepends=True)


def source(table: object) -> object:
    """An object with the Arrow interface that has the rows of a table."""
    if _is(table, "pandas", "DataFrame"):
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        # The index is no column: it would be metadata of every sample.
        return pyarrow.Table.from_pandas(table, preserve_index=False)
    if _is(table, "datasets", "Dataset"):
        return _rows_of_dataset(table)
    return table


def _rows_of_dataset(dataset: Any) -> object:
    """The rows of a Hugging Face dataset: those that were selected, in their order."""
    stored = dataset.data.table
    if dataset._indices is None:
        return stored
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    parts = dataset.with_format("arrow").iter(batch_size=BATCH_ROWS)
    batches = (batch for part in parts for batch in part.cast(stored.schema).to_batches())
    return pyarrow.RecordBatchReader.from_batches(stored.schema, batches)


def _result(table: Any, stream: ArrowStream, keep: Sequence[str]) -> object:
    if _is(table, "pyarrow", "RecordBatchReader"):
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        schema = pyarrow.schema(stream)
        return pyarrow.RecordBatchReader.from_batches(schema, map(pyarrow.record_batch, stream))
    if _is(table, "pyarrow", "Table"):
        return _arrow_table(stream)
    if _is(table, "pyarrow", "RecordBatch"):
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        batches = _arrow_batches(stream)
        return batches[0] if len(batches) == 1 else pyarrow.concat_batches(batches)
    if _is(table, "polars", "DataFrame"):
        import polars  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return polars.concat([polars.DataFrame(batch) for batch in stream])
    if _is(table, "pandas", "DataFrame"):
        frame = _arrow_table(stream).to_pandas()
        frame.index = table.index
        for name in keep:
            frame[name] = table[name]
        return frame
    if _is(table, "datasets", "Dataset"):
        return _dataset(table, _arrow_table(stream), keep)
    return stream


def _arrow_batches(stream: ArrowStream) -> list[Any]:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    # One by one: what goes wrong is an exception of ours, and Ctrl-C is heard.
    return [pyarrow.record_batch(batch) for batch in stream]


def _arrow_table(stream: ArrowStream) -> Any:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return pyarrow.Table.from_batches(_arrow_batches(stream))


def _dataset(given: Any, table: Any, keep: Sequence[str]) -> object:
    import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from datasets.table import InMemoryTable  # type: ignore[import-not-found, import-untyped, unused-ignore]

    features = datasets.Features.from_arrow_schema(table.schema)
    features.update({name: given.features[name] for name in keep})
    info = datasets.DatasetInfo(features=features)
    return datasets.Dataset(InMemoryTable(table), info=info, split=given.split)


def _is(table: object, module: str, name: str) -> bool:
    """Whether a table is of a class, whose library is imported if there is such a table."""
    found = sys.modules.get(module)
    return found is not None and isinstance(table, getattr(found, name, ()))
