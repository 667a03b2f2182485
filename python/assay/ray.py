"""Scoring on a Ray cluster.

>>> import ray  # doctest: +SKIP
>>> rows = ray.data.read_parquet("s3://bucket/completions/")  # doctest: +SKIP
>>> scored = assay.ray.score(rows, Path("assay.toml"), keep=["prompt_id"])  # doctest: +SKIP
>>> scored.write_parquet("s3://bucket/verdicts/")  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay import _workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import ray.data  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from assay._engine import Config, State


class Scorer:
    """An actor with an engine. It holds nothing that a restart would lose."""

    def __init__(self, job: _workers.Job) -> None:
        self._job = job
        _workers.engine_of(job)

    def __call__(self, table: pyarrow.Table) -> pyarrow.Table:
        return self._job.score(table)


def score(
    dataset: ray.data.Dataset,
    config: Config,
    *,
    concurrency: int | tuple[int, int] | None = None,
    batch_size: int = 4096,
    keep: Sequence[str] = (),
    step: int = 0,
    state: State = None,
    bad_rows: _workers.BadRows = "stop",
    ordered: bool = True,
    num_cpus: float = 1,
    remote_args: dict[str, Any] | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """The verdicts of a dataset, in the columns of :meth:`assay.Engine.score_arrow`.

    Rows are scored as the result is read or written, by actors that each hold an engine. An actor that
    is killed is started again, and its batches are scored again: what it gave out before counts once.
    The same rows have the same verdicts as on one machine.

    Args:
        dataset: The rows. Other tables become one by ``ray.data.from_arrow``, ``from_pandas`` and so on.
        config: As for :class:`assay.Engine`. A file is read here; files that it names must be at
            the same paths on every node.
        concurrency: How many actors, or the fewest and the most; by default as many as the cluster
            has cores for.
        batch_size: Rows that travel together.
        keep: Columns that come before those of the verdicts.
        step: The training step, as for :meth:`assay.Engine.score`.
        state: What shapes know of the training, as for :meth:`assay.Engine.score`.
        bad_rows: Whether a row that cannot be read stops the job, or is a fault in its place, whose id
            is its number in its batch.
        ordered: Whether rows come out in the order in which they went in. Without it a slow batch holds
            nobody up; tell rows apart by their ids then.
        num_cpus: Cores of an actor, and the threads of its engine.
        remote_args: Further arguments of Ray for the actors, such as ``{"num_gpus": 1}``.
        options: Those of :class:`assay.Engine`.

    Raises:
        ConfigError: What is wrong with the configuration, and where.
    """
    import ray.data  # type: ignore[import-not-found, import-untyped, unused-ignore]

    options.setdefault("jobs", max(1, int(num_cpus)))
    job = _workers.job(config, keep, step, state, bad_rows, options)
    least, most = _sizes(concurrency, num_cpus)
    # Ray starts actors again, and repeats what they left open, without end unless it is told otherwise.
    scored = dataset.map_batches(
        Scorer,
        fn_constructor_args=(job,),
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=num_cpus,
        udf_modifying_row_count=False,
        **(remote_args or {}),
    )
    if ordered:
        scored.context.execution_options.preserve_order = True
    return scored


def _sizes(concurrency: int | tuple[int, int] | None, num_cpus: float) -> tuple[int, int]:
    """The fewest and the most actors."""
    if isinstance(concurrency, int):
        return concurrency, concurrency
    if concurrency is not None:
        return concurrency
    ray: Any = import_module("ray")
    if not ray.is_initialized():
        ray.init()
    cores = ray.cluster_resources().get("CPU", 1)
    return 1, max(1, int(cores / num_cpus) if num_cpus else int(cores))
