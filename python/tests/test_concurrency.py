"""Threads, asyncio, processes, signals."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import BaseContext
from typing import Any

import assay
import pytest
from conftest import MATH, config

ENGINE = assay.Engine(MATH)


def rewards(engine: assay.Engine, count: int = 8) -> list[float | None]:
    """The rewards of ``count`` samples, of which the fifth is right."""
    scored = engine.score(completions=[str(at) for at in range(count)], references=["4"] * count)
    return [one.reward for one in scored]


RIGHT = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_many_threads_share_an_engine() -> None:
    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(rewards, [ENGINE] * 200)) == [RIGHT] * 200


def test_other_threads_run_while_samples_are_scored() -> None:
    entered, release = threading.Event(), threading.Event()

    @assay.verifier
    async def waits(sample: assay.Sample) -> float:
        entered.set()
        while not release.is_set():
            await asyncio.sleep(0.001)
        return 1.0

    engine = assay.Engine(config({"name": "w", "verifier": "waits"}), verifiers=[waits])
    found: list[float | None] = []
    thread = threading.Thread(target=lambda: found.append(engine.score(completions=["a"])[0].reward))
    thread.start()
    assert entered.wait(30), "the verifier was never asked"
    release.set()
    thread.join(30)
    assert found == [1.0]


def test_calls_under_asyncio_meet() -> None:
    async def score(at: int) -> float | None:
        [scored] = await ENGINE.score_async(completions=[str(at)], references=["4"])
        return scored.reward

    async def many() -> list[float | None]:
        return await asyncio.gather(*(score(at) for at in range(8)))

    assert asyncio.run(many()) == RIGHT
    assert asyncio.run(many()) == RIGHT, "a second event loop"


def test_a_cancelled_task_gives_its_work_up() -> None:
    cancelled = threading.Event()

    @assay.verifier
    async def never(sample: assay.Sample) -> float:
        await asyncio.sleep(3600)
        return 1.0

    engine = assay.Engine(config({"name": "n", "verifier": "never"}), verifiers=[never])

    async def give_up() -> None:
        task = asyncio.create_task(engine.score_async(completions=["a"]))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        cancelled.set()

    asyncio.run(give_up())
    assert cancelled.is_set()


def test_errors_reach_the_task() -> None:
    async def wrong() -> None:
        with pytest.raises(assay.DataError, match=r"samples\[0\]"):
            await ENGINE.score_async([{}])

    asyncio.run(wrong())


def child(queue: Any, engine: assay.Engine) -> None:
    """What a process of its own makes of the engine."""
    queue.put((os.getpid(), rewards(engine), [one.reward for one in asyncio.run(scored_async(engine))]))


async def scored_async(engine: assay.Engine) -> list[assay.Scored]:
    """One sample under asyncio."""
    return await engine.score_async(completions=["4"], references=["4"])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_another_process_has_its_own_engine(method: str) -> None:
    assert rewards(ENGINE) == RIGHT
    asyncio.run(scored_async(ENGINE))
    context: BaseContext = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=child, args=(queue, ENGINE)) for _ in range(2)]  # type: ignore[attr-defined]
    for process in processes:
        process.start()
    told = [queue.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(30)
        assert process.exitcode == 0
    assert {pid for pid, _, _ in told} == {process.pid for process in processes}
    assert all(found == RIGHT and alone == [1.0] for _, found, alone in told)
    assert rewards(ENGINE) == RIGHT, "the parent goes on"


# Shutting down takes a while, in which other threads ask for the interpreter.
LINGERS = """
import asyncio, sys, threading, time
import assay

class Lingers:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)

sys.modules["lingers"] = Lingers()
engine = assay.Engine('version = 1\\n[[reward]]\\nname = "m"\\nverifier = "exact"')
"""
# The thread that delivers is still within the event loop when that has ended.
DELIVERS = """
class Slow(asyncio.SelectorEventLoop):
    def call_soon_threadsafe(self, *given, **named):
        super().call_soon_threadsafe(*given, **named)
        time.sleep(0.2)

async def score():
    await engine.score_async(completions=["4"], references=["4"])

Slow().run_until_complete(score())
"""
# A call of a daemon thread goes on.
SCORES = """
entered = threading.Event()

def score():
    while True:
        engine.score(completions=["4"] * 100, references=["4"] * 100)
        entered.set()

threading.Thread(target=score, daemon=True).start()
entered.wait()
"""


@pytest.mark.parametrize("threads", [DELIVERS, SCORES])
def test_the_interpreter_shuts_down_beside_threads(threads: str) -> None:
    ended = subprocess.run([sys.executable, "-c", LINGERS + threads], capture_output=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_an_engine_pickles_by_its_configuration() -> None:
    data = pickle.dumps(assay.Engine(MATH, jobs=1))
    assert len(data) < 1000
    engine = pickle.loads(data)
    assert (engine.jobs, rewards(engine)) == (1, RIGHT)


@pytest.mark.usefixtures("sigint")
def test_an_interrupt_ends_the_call() -> None:
    @assay.verifier
    async def interrupts(sample: assay.Sample) -> float:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(3600)
        return 1.0

    engine = assay.Engine(config({"name": "i", "verifier": "interrupts"}), verifiers=[interrupts])
    with pytest.raises(KeyboardInterrupt):
        engine.score(completions=["a"])
    assert rewards(ENGINE) == RIGHT
