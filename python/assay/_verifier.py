"""Python functions as verifiers."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol, overload

from assay._core import Verdict

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

    from assay._core import Sample

    Judged = Verdict | float | bool | None
    Function = Callable[..., Judged | Coroutine[Any, Any, Judged]]


class Reply(Protocol):
    """Takes the verdict of one sample, as JSON."""

    def __call__(self, verdict: str, /) -> None: ...


class Verifier:
    """A Python function that judges samples; made by :func:`verifier`.

    It can still be called as the function that it is.
    """

    def __init__(self, function: Function, id: str, version: int, in_flight_max: int) -> None:
        import inspect

        self.function = function
        self.id = id
        self.version = version
        self.is_async = inspect.iscoroutinefunction(function)
        self.in_flight_max = in_flight_max if self.is_async else None
        parameters = inspect.signature(function).parameters
        self.takes_verdicts = "verdicts" in parameters
        takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        self.settings = None if takes_any else [*parameters][1:]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self.__name__ = getattr(function, "__name__", id)
        self.__qualname__ = getattr(function, "__qualname__", id)
        self.__module__ = getattr(function, "__module__", None) or ""
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> str | tuple[Any, ...]:
        if _is_found_by_name(self):
            return self.__qualname__
        return (Verifier, (self.function, self.id, self.version, self.in_flight_max or 1))

    def __repr__(self) -> str:
        return f"<assay.Verifier {self.id!r}>"

    def start(
        self,
        sample: Sample,
        verdicts: dict[str, Verdict],
        settings: dict[str, Any],
        reply: Reply,
    ) -> None:
        """Judges a sample and gives the verdict to ``reply``. The engine calls it."""
        if self.takes_verdicts:
            settings = {**settings, "verdicts": verdicts}
        if not self.is_async:
            reply(_judged(self, lambda: self.function(sample, **settings)))
            return
        import asyncio

        async def judge() -> None:
            try:
                verdict = _verdict(await self.function(sample, **settings))  # type: ignore[misc]
            except Exception as error:
                verdict = _failed(self, error)
            reply(verdict.to_json())

        asyncio.run_coroutine_threadsafe(judge(), self._running_loop())

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                run = self._loop.run_forever
                threading.Thread(target=run, name=f"assay-{self.id}", daemon=True).start()
            return self._loop


@overload
def verifier(function: Function, /) -> Verifier: ...


@overload
def verifier(
    *, id: str | None = None, version: int = 1, in_flight_max: int = 64
) -> Callable[[Function], Verifier]: ...


def verifier(
    function: Function | None = None,
    /,
    *,
    id: str | None = None,
    version: int = 1,
    in_flight_max: int = 64,
) -> Verifier | Callable[[Function], Verifier]:
    """Makes a verifier of a function, which a configuration names by its ``id``.

    The function gets a :class:`Sample` and the settings of the reward as keywords. With a parameter
    called ``verdicts`` it also gets the verdicts of the rewards before its own. It returns a number
    or a bool (the reward), ``None`` (it abstains) or a :class:`Verdict`. What it raises is a fault,
    never a reward. It runs in a thread of its own, one sample after the other; an ``async def`` in an
    event loop of its own, with at most ``in_flight_max`` samples at once.

    Args:
        id: The name in configurations; by default that of the function.
        version: Raise it when the same sample may get another verdict: it is part of cache keys.
        in_flight_max: How many samples an ``async def`` may await at once.

    >>> @assay.verifier
    ... def short(sample, words=3):
    ...     return len(sample.completion.split()) <= words
    >>> reward = {"name": "brief", "verifier": "short", "config": {"words": 2}}
    >>> engine = assay.Engine({"version": 1, "reward": [reward]}, verifiers=[short])
    >>> [scored.reward for scored in engine.score(completions=["one two", "one two three"])]
    [1.0, 0.0]
    """

    def make(function: Function) -> Verifier:
        name = id if id is not None else getattr(function, "__name__", "")
        if not name or name == "<lambda>":
            raise ValueError("a verifier without a name: pass id=")
        return Verifier(function, name, version, in_flight_max)

    return make if function is None else make(function)


def _is_found_by_name(verifier: Verifier) -> bool:
    """Whether another process finds the verifier where this one does: the name of its function is its own.

    A script is another module elsewhere. There ``cloudpickle``, which Ray takes, ships the function.
    """
    found: Any = sys.modules.get(verifier.__module__)
    for name in verifier.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not verifier or verifier.__module__ != "__main__":
        return found is verifier
    from multiprocessing.context import get_spawning_popen

    is_cloud = any(name in sys.modules for name in ("cloudpickle", "ray.cloudpickle"))
    return get_spawning_popen() is not None or not is_cloud


def _judged(verifier: Verifier, judge: Callable[[], Any]) -> str:
    try:
        return _verdict(judge()).to_json()
    except Exception as error:
        return _failed(verifier, error).to_json()


def _verdict(judged: Judged) -> Verdict:
    if isinstance(judged, Verdict):
        return judged
    if judged is None:
        return Verdict.abstained("the function returned None")
    # A bool, and numbers of numpy, are numbers too; text that looks like one is a mistake.
    if isinstance(judged, str) or not hasattr(judged, "__float__"):
        kind = type(judged).__name__
        raise TypeError(f"a verifier returns a number, None or a Verdict, not {kind}")
    return Verdict.scored(float(judged))


def _failed(verifier: Verifier, error: Exception) -> Verdict:
    import traceback

    last = traceback.format_exception_only(error)[-1].strip()
    return Verdict.failed("Internal", f"{verifier.id}: {last}")
