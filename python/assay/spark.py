"""Scoring on a Spark cluster.

>>> rows = spark.read.parquet("s3://bucket/completions/")  # doctest: +SKIP
>>> scored = assay.spark.score(rows, Path("assay.toml"), keep=["prompt_id"])  # doctest: +SKIP
>>> scored.write.parquet("s3://bucket/verdicts/")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay import _workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from pyspark.sql import DataFrame  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from pyspark.sql.types import StructType  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from assay._engine import Config, State


def score(
    frame: DataFrame,
    config: Config,
    *,
    keep: Sequence[str] = (),
    step: int = 0,
    state: State = None,
    bad_rows: _workers.BadRows = "stop",
    **options: Any,
) -> DataFrame:
    """The verdicts of a data frame, in the columns of :meth:`assay.Engine.score_arrow`.

    It runs by ``mapInArrow``: each Python worker of Spark makes one engine. Spark repeats what a lost
    worker left open, and counts it once. The same rows have the same verdicts as on one machine.

    Args:
        frame: The rows.
        config: As for :class:`assay.Engine`. A file is read here; files that it names must be at
            the same paths on every node.
        keep: Columns that come before those of the verdicts.
        step: The training step, as for :meth:`assay.Engine.score`.
        state: What shapes know of the training, as for :meth:`assay.Engine.score`.
        bad_rows: Whether a row that cannot be read stops the job, or is a fault in its place, whose id
            is its number in its partition.
        options: Those of :class:`assay.Engine`; ``jobs`` is 1 by default, a thread for each task.

    Raises:
        ConfigError: What is wrong with the configuration, and where.
    """
    options.setdefault("jobs", 1)
    job = _workers.job(config, keep, step, state, bad_rows, options)

    def judge(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        first = next(batches, None)
        if first is None:
            return

        def given() -> Iterator[pyarrow.RecordBatch]:
            yield first
            yield from batches

        yield from job.score(pyarrow.RecordBatchReader.from_batches(first.schema, given()))

    return frame.mapInArrow(judge, _schema(frame, job))


def _schema(frame: DataFrame, job: _workers.Job) -> StructType:
    """The columns that come out."""
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType  # type: ignore[import-not-found, import-untyped, unused-ignore]

    text, number = StringType(), DoubleType()
    fields = [StructField(name, frame.schema[name].dataType) for name in job.keep]
    fields += [StructField(name, text) for name in ("id", "group", "outcome")]
    fields += [StructField("reward", number)]
    fields += [StructField(name, text) for name in ("fault", "why")]
    fields += [StructField(f"reward.{name}", number) for name in job.names]
    return StructType([*fields, StructField("verdicts", text)])
