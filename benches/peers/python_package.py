"""The Python package: what a call costs, beside Math-Verify, beside the library, and to other threads.

    make wheel
    python3 -m venv target/peers-python
    target/peers-python/bin/pip install --no-deps --require-hashes -r benches/peers/requirements-math.txt
    target/peers-python/bin/pip install --no-index target/wheels/*.whl
    cargo build --release --example one_call
    target/peers-python/bin/python benches/peers/python_package.py [PAIRS.jsonl]

PAIRS have a `completion` and a `reference` each, by default 64 hard ones of this file; they are what
threads ask for one by one. Each figure stands beside its yardstick of the same run.
"""

from __future__ import annotations

import sys

sys.path.pop(0)  # A file beside this one must not hide the module `math`.

import gzip
import json
import os
import resource
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import assay

ROOT = Path(__file__).resolve().parents[2]
ONE_CALL = os.environ.get("ONE_CALL", ROOT / "target/release/examples/one_call")
CONFIG = 'version = 1\n[[reward]]\nname = "correct"\nverifier = "math"\n'
PAIRS_MAX = 10_000
PEER_PAIRS = 200
HARD = [
    {"completion": rf"\boxed{{\frac{{(x+{n})^3 - x^3}}{{{n}}}}}", "reference": f"3x^2+{3 * n}x+{n * n}"}
    for n in range(1, 65)
]


def easy() -> list[dict[str, str]]:
    """The shipped answers to GSM8K, repeated."""
    with gzip.open(ROOT / "fixtures/datasets/gsm8k-openai.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [{"completion": row["response"], "reference": row["reference"]} for row in rows]
    return (rows * (PAIRS_MAX // len(rows) + 1))[:PAIRS_MAX]


def seconds(work: Callable[[], object]) -> float:
    """The least time of five runs."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def beside_math_verify(engine: assay.Engine, pairs: list[dict[str, str]]) -> None:
    from math_verify import parse, verify

    def peer() -> None:
        for pair in pairs[:PEER_PAIRS]:
            verify(parse(f"${pair['reference']}$"), parse(pair["completion"]))

    ours, theirs = seconds(lambda: engine.score(pairs)), seconds(peer) * len(pairs) / PEER_PAIRS
    print(f"{len(pairs)} pairs: {1e3 * ours:.0f} ms; Math-Verify {theirs:.1f} s: {theirs / ours:.0f}x")


def beside_the_library(engine: assay.Engine, pairs: list[dict[str, str]]) -> None:
    times = []
    for pair in pairs:
        start = time.perf_counter()
        engine.score([pair])
        times.append(time.perf_counter() - start)
    python = 1e6 * statistics.median(times)
    with tempfile.TemporaryDirectory() as folder:
        config, data = Path(folder) / "assay.toml", Path(folder) / "data.jsonl"
        config.write_text(CONFIG)
        data.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
        rust = float(subprocess.check_output([ONE_CALL, config, data]))
    print(f"one call: {python:.1f} us in Python, {rust:.1f} us in Rust: {python - rust:+.1f} us")


def many_threads(engine: assay.Engine, pairs: list[dict[str, str]]) -> None:
    def rate(count: int) -> float:
        def ask(part: list[dict[str, str]]) -> None:
            for pair in part:
                engine.score([pair])

        threads = [threading.Thread(target=ask, args=(pairs[at::count],)) for at in range(count)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(pairs) / (time.perf_counter() - start)

    runs = [(rate(1), rate(16)) for _ in range(5)]
    one, many = (statistics.median(column) for column in zip(*runs, strict=True))
    print(f"single calls: {one:.0f}/s from one thread, {many:.0f}/s from 16: {many / one:.2f}x")


def beside_a_thread(pairs: list[dict[str, str]]) -> None:
    engine = assay.Engine(CONFIG, jobs=1)

    def counted(work: Callable[[], object]) -> float:
        stop, counts = threading.Event(), [0]

        def count() -> None:
            while not stop.is_set():
                for _ in range(1000):
                    counts[0] += 1

        thread = threading.Thread(target=count)
        start = time.perf_counter()
        thread.start()
        work()
        stop.set()
        thread.join()
        return counts[0] / (time.perf_counter() - start)

    alone, beside = counted(lambda: time.sleep(1)), counted(lambda: engine.score(pairs * 20))
    print(f"a counting thread beside a call keeps {100 * beside / alone:.0f} % of its speed")


def imported() -> None:
    # The peak of a process that was just started is that of its parent: what is resident is read.
    code = (
        "import time; held = lambda: int(open('/proc/self/statm').read().split()[1]);"
        "m, t = held(), time.perf_counter(); import assay; t = time.perf_counter() - t;"
        "import resource; print(t, (held() - m) * resource.getpagesize())"
    )
    runs = [subprocess.check_output([sys.executable, "-c", code]).split() for _ in range(9)]
    times, memory = zip(*((float(one), int(more)) for one, more in runs), strict=True)
    print(f"import: {1e3 * statistics.median(times):.0f} ms, {max(memory) / 2**20:.1f} MiB")


def main() -> None:
    hard = HARD
    if sys.argv[1:]:
        with open(sys.argv[1]) as lines:
            hard = [json.loads(line) for line in lines]
        hard = [{"completion": row["completion"], "reference": row["reference"]} for row in hard]
    engine, pairs = assay.Engine(CONFIG), easy()
    imported()
    beside_math_verify(engine, pairs)
    beside_the_library(engine, pairs[:5000])
    many_threads(engine, (hard * (4000 // len(hard) + 1))[:4000])
    beside_a_thread(pairs)
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
