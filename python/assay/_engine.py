"""The engine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from assay import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal, TypeAlias

    from assay._core import Scored
    from assay._explain import Explanation
    from assay._run import BadRows, Format, Path, Progress, RunSummary
    from assay._verifier import Verifier

    Config: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
    State: TypeAlias = "Mapping[str, Any] | None"

Table = TypeVar("Table")
Refusal = TypeVar("Refusal", bound=_core.AssayError)


class Spec(NamedTuple):
    """What an engine is made of; it travels to other processes."""

    name: str
    text: str
    folder: str
    allow_paths: list[str]
    settings: list[tuple[str, str]]
    jobs: int | None
    cache: bool
    cache_dir: str | None
    judge_store: str | None
    replay: bool


class _Here(NamedTuple):
    """A spec and what this machine adds to it."""

    spec: Spec
    assets: list[str]
    onnxruntime: str | None


class Options(NamedTuple):
    """How a call is to be scored."""

    training: str | None
    """Where the training stands, as JSON."""
    timeout: float | None
    wait: bool


def _training(step: int, state: State) -> str | None:
    """Where the training stands, as JSON; None where it has not begun."""
    if not step and not state:
        return None
    import json

    state = dict(state or {})
    return json.dumps({**state, "step": step or state.get("step", 0)})


def options_of(step: int, state: State, timeout: float | None, *, wait: bool = True) -> Options:
    return Options(_training(step, state), timeout, wait)


class Engine:
    """Scores samples by a configuration.

    It may be used from any thread, and under asyncio. It pickles by its configuration, and a process
    that was forked makes its own. Samples of all callers meet in one pool of threads.

    Args:
        config: A mapping, the text of a TOML (or JSON) configuration, or a path (``pathlib.Path``).
        verifiers: Python functions made verifiers by :func:`assay.verifier`, which the configuration
            may name.
        jobs: Threads for checks, at most 1,024; by default one a core.
        settings: Values by their dotted paths, set over those of the configuration, such as
            ``{"combine.how": "min", "reward.correct.weight": 0.5}``.
        allow_paths: Folders, beside that of the configuration, whose files settings may name.
        cache: Whether verdicts of models and judges are looked up and kept.
        cache_dir: Where they are kept.
        judge_store: A folder for the replies of judges; nothing that it holds is asked again.
        replay: Ask no judge: the replies of ``judge_store`` alone answer.

    Raises:
        ConfigError: What is wrong with the configuration, and where.

    >>> config = '''
    ... version = 1
    ... [[reward]]
    ... name = "correct"
    ... verifier = "math"
    ... '''
    >>> engine = assay.Engine(config)
    >>> engine.score(completions=["x = 2", "x = 3"], references=["2", "2"])[0].reward
    1.0
    """

    def __init__(
        self,
        config: Config,
        *,
        verifiers: Sequence[Verifier] = (),
        jobs: int | None = None,
        settings: Mapping[str, Any] | None = None,
        allow_paths: Sequence[str | os.PathLike[str]] = (),
        cache: bool = True,
        cache_dir: str | os.PathLike[str] | None = None,
        judge_store: str | os.PathLike[str] | None = None,
        replay: bool = False,
    ) -> None:
        spec = spec_of(
            config,
            jobs=jobs,
            settings=settings,
            allow_paths=allow_paths,
            cache=cache,
            cache_dir=cache_dir,
            judge_store=judge_store,
            replay=replay,
        )
        self._start(spec, tuple(verifiers))

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str], **options: Any) -> Engine:
        """The engine of a configuration file. ``options`` are those of :class:`Engine`.

        >>> engine = assay.Engine.from_toml("assay.toml", jobs=2)  # doctest: +SKIP
        """
        from pathlib import Path

        return cls(Path(path), **options)

    @property
    def names(self) -> list[str]:
        """The names of the rewards, in their order.

        >>> assay.Engine({"version": 1, "reward": [{"name": "a", "verifier": "exact"}]}).names
        ['a']
        """
        return self._core.names

    @property
    def jobs(self) -> int:
        """Threads of the compute lane."""
        return self._core.jobs

    @property
    def needs_groups(self) -> bool:
        """Whether rewards compare the samples of a group, which must then be scored together."""
        return self._core.needs_groups

    @property
    def config(self) -> dict[str, Any]:
        """The configuration with every default filled in: what ``config.resolved.json`` of a run says."""
        return self._core.config

    def score(
        self,
        samples: Iterable[Mapping[str, Any]] | None = None,
        /,
        *,
        completions: Iterable[Any] | None = None,
        prompts: Iterable[Any] | None = None,
        references: Iterable[Any] | None = None,
        ids: Iterable[str | int] | None = None,
        groups: Iterable[str | int] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
        step: int = 0,
        state: State = None,
        timeout: float | None = None,
        wait: bool = True,
    ) -> list[Scored]:
        """Judges samples and waits for them: one :class:`Scored` each, in their order.

        Samples are dicts in the column names of the configuration, or lists of one length by
        keyword. A sample that cannot be judged is a fault in its place, never missing. Other Python
        threads run meanwhile, and Ctrl-C stops the call.

        Args:
            samples: A dict for each sample.
            completions: What is judged: text, or a list of ``{"role", "content"}``.
            prompts: What was asked, in the same forms.
            references: What right completions come to: any values.
            ids: The ids under which samples are reported.
            groups: The prompt that samples share. Wants ``data.group`` in the configuration.
            columns: Further columns of a dataset by their names.
            step: The training step, seen by ``when``, expressions, scheduled weights and shapes.
            state: What shapes know of the training: ``{"values": {..}, "moments": {..}}``.
            timeout: Seconds; what is not judged by then is a ``Timeout`` fault.
            wait: Whether to wait where too many samples are in flight, else they are ``Overloaded``.

        Raises:
            DataError: Which sample cannot be read, and why.

        >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
        >>> [scored.reward for scored in engine.score([{"completion": "a", "reference": "a"}])]
        [1.0]
        """
        lists = self._lists(completions, prompts, references, ids, groups, columns, samples)
        return self._core.score(samples, lists, options_of(step, state, timeout, wait=wait))

    async def score_async(
        self,
        samples: Iterable[Mapping[str, Any]] | None = None,
        /,
        *,
        completions: Iterable[Any] | None = None,
        prompts: Iterable[Any] | None = None,
        references: Iterable[Any] | None = None,
        ids: Iterable[str | int] | None = None,
        groups: Iterable[str | int] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
        step: int = 0,
        state: State = None,
        timeout: float | None = None,
        wait: bool = True,
    ) -> list[Scored]:
        """The same as :meth:`score`, under asyncio. Cancelling the task gives the work up.

        >>> import asyncio
        >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
        >>> [scored] = asyncio.run(engine.score_async([{"completion": "a", "reference": "b"}]))
        >>> scored.reward
        0.0
        """
        lists = self._lists(completions, prompts, references, ids, groups, columns, samples)
        scored = self._core.score_future(samples, lists, options_of(step, state, timeout, wait=wait))
        return scored if isinstance(scored, list) else await scored

    def score_file(
        self,
        data: Path | Iterable[Path],
        output: Path,
        *,
        shard: str | tuple[int, int] | None = None,
        progress: Progress = None,
        fresh: bool = False,
        limit: int | None = None,
        retry_faults: bool = False,
        bad_rows: BadRows = "stop",
        format: Format = "jsonl",
        step: int = 0,
        state: State = None,
    ) -> RunSummary:
        """Scores files into a run folder, as ``assay score`` does, and returns the summary.

        A run that was stopped goes on where it was when it is called again. Other Python threads run
        meanwhile. Ctrl-C ends the run in order: what was written is kept, and ``KeyboardInterrupt`` is
        raised.

        Args:
            data: JSON lines (also ``.gz``, ``.zst``), Parquet, or a dataset folder; one or several.
            output: The run folder.
            shard: One of several parts, counted from 0: ``"0/4"`` or ``(0, 4)``. It is written into
                a folder of its own inside ``output``; :func:`assay.merge` makes one run of them.
            progress: ``True`` shows a line on a terminal. A function is called with the rows, the bytes
                read and the bytes in all, now and then, and once at the end.
            fresh: Start over, whatever ``output`` holds of an earlier run.
            limit: Read at most so many rows; a group that this would cut is read to its end.
            retry_faults: Judge rows with a fault again.
            bad_rows: What becomes of rows that cannot be read: ``"stop"``, ``"skip"`` or ``"fault"``.
            format: ``"parquet"`` writes the verdict rows as Parquet too.
            step: The training step, as in :meth:`score`. It is a part of what the run is.
            state: What shapes know of the training, as in :meth:`score`.

        Raises:
            RunError: Why the run cannot go on. Rows that were written stay.

        >>> summary = engine.score_file("rows.jsonl", "run", progress=True)  # doctest: +SKIP
        >>> summary["total"]["mean"]  # doctest: +SKIP
        0.5
        """
        from assay import _run

        options = _run.RunOptions(
            data=_run.paths(data),
            output=os.fspath(output),
            shard=_run.shard_of(shard),
            bad_rows=bad_rows,
            limit=limit,
            fresh=fresh,
            retry_faults=retry_faults,
            format=format,
            training=_training(step, state),
        )
        return _run.score(self._core, options, progress)

    def explain(
        self, sample: Mapping[str, Any], *, step: int = 0, state: State = None
    ) -> Explanation:
        """Scores a sample and shows how it came to its reward: a picture in a notebook, with answers
        marked in the completion, steps coloured and components as bars; plain text elsewhere.

        >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "math"}]})
        >>> print(engine.explain({"id": "q1", "completion": "It is 4.", "reference": 4}))
        id      q1
        reward  1.0
        ...
        """
        from assay import _explain

        return _explain.of_sample(self._core, sample, options_of(step, state, None))

    def score_arrow(
        self,
        table: Table,
        *,
        keep: Sequence[str] = (),
        step: int = 0,
        state: State = None,
        timeout: float | None = None,
        bad_rows: Literal["stop", "fault"] = "stop",
    ) -> Table:
        """Judges the rows of a table: one of the same kind comes back, with the columns of verdicts.

        These are ``id``, ``group``, ``outcome``, ``reward``, ``fault``, ``why``, a ``reward.NAME``
        for each reward, and ``verdicts``, as JSON: what a Parquet file of verdicts has. A table of
        pyarrow, polars, pandas or Hugging Face ``datasets`` gives one of its kind; a
        ``pyarrow.RecordBatchReader`` is scored batch by batch, as the reader that comes back is read.
        Any other object with the Arrow interface gives an :class:`ArrowStream`, which has that
        interface, and is scored as it is read, once.

        Every column that the configuration does not name is metadata, as in files: drop those that no
        verifier needs. Rewards that compare the samples of a group see all rows of the table at once.

        Args:
            table: The rows, in the column names of the configuration.
            keep: Columns that come back before those of the verdicts, without being copied.
            step: The training step, as in :meth:`score`.
            state: What shapes know of the training, as in :meth:`score`.
            timeout: Seconds for each batch of rows; what is not judged by then is a ``Timeout``.
            bad_rows: Whether a row that cannot be read stops the call, or is a fault in its place.

        Raises:
            DataError: Which row or column cannot be read, and why.

        >>> import pyarrow
        >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
        >>> table = pyarrow.table({"completion": ["a", "b"], "reference": ["a", "a"]})
        >>> engine.score_arrow(table)["reward"].to_pylist()
        [1.0, 0.0]
        """
        from assay import _arrow

        return _arrow.score(self._core, table, keep, options_of(step, state, timeout), bad_rows)

    def next_state(self, state: State, scored: Iterable[Scored]) -> dict[str, Any]:
        """The state for the call after this one: what shapes normalise by has seen the rewards of
        ``scored``. Step and values are the trainer's, and stay.

        Args:
            state: The state that these were scored with; None at first.
            scored: All samples of a call.

        >>> scale = {"kind": "running_normalise", "of": "right"}  # doctest: +SKIP
        >>> state = engine.next_state(None, engine.score(samples))  # doctest: +SKIP
        """
        import json

        return self._core.next_state(json.dumps(dict(state or {})), list(scored))

    def _start(self, spec: Spec, verifiers: tuple[Verifier, ...]) -> None:
        from assay import _installed

        here = _Here(spec, _installed.assets(), _installed.onnxruntime())
        self._spec = spec
        self._verifiers = verifiers
        for one in verifiers:
            if not hasattr(one, "takes_verdicts"):
                raise TypeError(f"verifiers: {one!r} is not a verifier: put @assay.verifier above it")
        self._core = _core.Engine(here, list(verifiers))
        self._columns = self._core.columns
        if verifiers:
            _check_settings(self.config["reward"], verifiers)

    def _lists(
        self,
        completions: Iterable[Any] | None,
        prompts: Iterable[Any] | None,
        references: Iterable[Any] | None,
        ids: Iterable[Any] | None,
        groups: Iterable[Any] | None,
        columns: Mapping[str, Iterable[Any]] | None,
        samples: object,
    ) -> dict[str, Iterable[Any]]:
        """The columns of a call by their names in the configuration."""
        lists: dict[str, Iterable[Any]] = {}
        if completions is not None:
            lists[self._columns["completion"]] = completions
        if prompts is not None:
            lists[self._columns["prompt"]] = prompts
        if references is not None:
            lists[self._columns["reference"]] = references
        if ids is not None:
            lists[self._columns["id"]] = ids
        if groups is not None:
            if "group" not in self._columns:
                why = "groups: the configuration names no column `data.group`"
                raise coded(_core.ConfigError(why), "missing_key", key="data.group")
            lists[self._columns["group"]] = groups
        for name in columns or ():
            if name in lists:
                raise TypeError(f"the column {name!r} is given twice")
        lists.update(columns or {})
        if samples is None and not lists:
            raise TypeError("nothing to score: pass samples, or lists such as completions=")
        if samples is not None and lists:
            raise TypeError("pass either samples or lists such as completions=, not both")
        return lists

    def __reduce__(self) -> tuple[Any, ...]:
        return (remade, (self._spec, self._verifiers))

    def __repr__(self) -> str:
        return f"<assay.Engine {self._spec.name}: {', '.join(self.names)}>"


def spec_of(
    config: Config,
    *,
    jobs: int | None = None,
    settings: Mapping[str, Any] | None = None,
    allow_paths: Sequence[str | os.PathLike[str]] = (),
    cache: bool = True,
    cache_dir: str | os.PathLike[str] | None = None,
    judge_store: str | os.PathLike[str] | None = None,
    replay: bool = False,
) -> Spec:
    """What an engine is to be made of, here or in another process. Files are read now."""
    name, text, folder = _read(config)
    return Spec(
        name=name,
        text=text,
        folder=folder,
        allow_paths=[os.path.abspath(path) for path in allow_paths],
        settings=[(path, _toml(value)) for path, value in (settings or {}).items()],
        jobs=_threads(jobs),
        cache=cache,
        cache_dir=_absolute(cache_dir),
        judge_store=_absolute(judge_store),
        replay=replay,
    )


def remade(spec: Spec, verifiers: tuple[Verifier, ...]) -> Engine:
    """An engine out of a pickle."""
    engine = Engine.__new__(Engine)
    engine._start(spec, verifiers)
    return engine


def _check_settings(rewards: list[dict[str, Any]], verifiers: tuple[Verifier, ...]) -> None:
    """Refuses settings that the functions do not take."""
    takes = {one.id: one.settings for one in verifiers}
    for at, reward in enumerate(rewards):
        known = takes.get(reward["verifier"])
        for key in reward["config"]:
            if known is not None and key not in known:
                why = f"reward {reward['name']!r}: the function takes no setting {key!r}; it takes: {', '.join(known)}"
                found = {"key": f"reward[{at}].config.{key}", "expected": known}
                raise coded(_core.ConfigError(why), "unknown_key", **found)


def _read(config: Config) -> tuple[str, str, str]:
    """The name of a configuration, its text, and the folder of the files that it names."""
    if isinstance(config, os.PathLike):
        path = os.fspath(config)
        try:
            with open(path, encoding="utf-8") as file:
                return path, file.read(), os.path.dirname(os.path.abspath(path))
        except (OSError, UnicodeDecodeError) as error:
            wrong = _core.ConfigError(f"{path}: {error}")
            code = "unreadable_file" if isinstance(error, OSError) else "encoding"
            raise coded(wrong, code, file=str(path)) from None
    if isinstance(config, str):
        if "\n" not in config and config.endswith((".toml", ".json")):
            wrong = _core.ConfigError(
                f"{config!r} is read as the text of a configuration; "
                "for a file pass pathlib.Path or use Engine.from_toml"
            )
            raise coded(wrong, "not_a_configuration", file=config)
        return "config", config, os.getcwd()
    if not hasattr(config, "keys"):
        found = type(config).__name__
        wrong = _core.ConfigError(f"config: expected a mapping, a text or a pathlib.Path, found {found}")
        raise coded(wrong, "wrong_type", found=found)
    import json

    try:
        return "config", json.dumps(config, ensure_ascii=False, allow_nan=False), os.getcwd()
    except (TypeError, ValueError) as error:
        code = "wrong_type" if isinstance(error, TypeError) else "bad_value"
        raise coded(_core.ConfigError(f"config: {error}"), code) from None


def coded(error: Refusal, code: str, **fields: Any) -> Refusal:
    """An error with its code, of those of ``docs/codes.md``, and what else is known of it."""
    error.code, error.fields = code, fields
    return error


def _threads(jobs: int | None) -> int | None:
    """A number of threads."""
    import operator

    try:
        count = None if jobs is None else operator.index(jobs)
    except TypeError:
        count = 0
    if count is not None and count < 1:
        why = f"jobs: expected a number of threads from 1 on, or None; found {jobs!r}"
        raise coded(_core.ConfigError(why), "bad_value", key="jobs")
    return count


def _toml(value: Any) -> str:
    """A value as ``--set`` takes it: JSON of everything but tables is TOML."""
    import json

    return json.dumps(value, ensure_ascii=False)


def _absolute(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.path.abspath(path)
