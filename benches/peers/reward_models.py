"""Runs ONNX Runtime from Python beside `assay score` on the same file, in the same run.

    python benches/peers/reward_models.py MODEL ASSAY [--texts N] [--turns N]

MODEL is a model folder of kind `outcome` whose template is a conversation read at its end, such as the
one of `python -m assay.export.bench_model`; ASSAY is the program. Texts have 16 to 512 tokens, log-uniform,
in random order. Each way takes its turns; the best time counts. Tokens are those of the texts, padding
left out. Needs benches/peers/requirements-models.txt.
"""

from __future__ import annotations

import sys

sys.path.pop(0)  # A neighbour of this file must not hide the module `math`.

import argparse
import json
import math
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnxruntime as ort
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

WORDS = "so the sum of two and three is five which we add to seven then half of it remains as before".split()


class Peer:
    """What a user writes in an afternoon: template, tokenizer, session, batches as they come."""

    def __init__(self, model: Path, provider: str = "CPUExecutionProvider") -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = os.cpu_count() or 1
        self.session = ort.InferenceSession(model / "model.onnx", options, providers=[provider])
        if provider not in self.session.get_providers():  # onnxruntime prints a warning and takes the CPU.
            raise SystemExit(f"{provider} did not start")
        self.tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        self.template = environment.from_string((model / "chat.jinja").read_text(encoding="utf-8"))

    def text(self, prompt: str, completion: str) -> str:
        messages = [{"role": "user", "content": prompt}, {"role": "assistant", "content": completion}]
        return self.template.render(messages=messages)

    def ids(self, rows: list[dict[str, str]]) -> list[list[int]]:
        texts = [self.text(row["prompt"], row["completion"]) for row in rows]
        return [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def score(self, batch: list[list[int]]) -> np.ndarray:
        width = max(map(len, batch))
        ids = np.zeros((len(batch), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(batch):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        ends = np.array([[len(row) - 1] for row in batch])
        return self.session.run(["scores"], {"input_ids": ids, "attention_mask": mask, "score_positions": ends})[0]

    def run(self, rows: list[dict[str, str]], batches: Callable[[list[list[int]]], Iterator[list[list[int]]]]) -> float:
        start = time.perf_counter()
        for batch in batches(self.ids(rows)):
            self.score(batch)
        return time.perf_counter() - start


def fixed(size: int) -> Callable[[list[list[int]]], Iterator[list[list[int]]]]:
    """Batches of one size, in the order of arrival."""
    return lambda ids: (ids[at : at + size] for at in range(0, len(ids), size))


def fifo(budget: int) -> Callable[[list[list[int]]], Iterator[list[list[int]]]]:
    """Batches up to a budget of padded tokens, in the order of arrival."""

    def batches(ids: list[list[int]]) -> Iterator[list[list[int]]]:
        batch: list[list[int]] = []
        for row in ids:
            if batch and max(len(row), *map(len, batch)) * (len(batch) + 1) > budget:
                yield batch
                batch = []
            batch.append(row)
        yield batch

    return batches


def workload(peer: Peer, count: int) -> list[dict[str, str]]:
    """Rows whose texts have 16 to 512 tokens and more of the template."""
    rng = random.Random(7)
    around = len(peer.ids([{"prompt": "", "completion": ""}])[0])
    rows = []
    for place in range(count):
        length = math.exp(rng.uniform(math.log(16), math.log(512)))
        words = [rng.choice(WORDS) for _ in range(max(1, round(length) - around))]
        middle = min(8, len(words) - 1)
        rows.append({"id": str(place), "prompt": " ".join(words[:middle]) or "?", "completion": " ".join(words[middle:])})
    return rows


def scored(program: Path, model: Path, rows: list[dict[str, str]], run: dict[str, object], out: Path) -> float:
    """Seconds of `assay score` into `out`, from its start to its end."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        config = {
            "version": 1,
            "reward": [{"name": "model", "verifier": "outcome_model", "cache": False,
                        "config": {"model": str(model), "run": run}}],
        }
        (folder / "assay.json").write_text(json.dumps(config), encoding="utf-8")
        command = [program, "score", "assay.json", "data.jsonl", "--fresh", "-q", "--allow-path", model, "-o", out]
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def assay(program: Path, model: Path, rows: list[dict[str, str]], run: dict[str, object], out: Path) -> float:
    """Seconds of `assay score` into `out`, start and golden pairs left out: what a run of a single row takes."""
    whole = scored(program, model, rows, run, out)
    return whole - scored(program, model, rows[:1], run, out.with_name(f"{out.name}-start"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("assay", type=Path)
    parser.add_argument("--texts", type=int, default=384)
    parser.add_argument("--turns", type=int, default=2)
    given = parser.parse_args()
    model, program = given.model.resolve(), given.assay.resolve()
    peer = Peer(model)
    rows = workload(peer, given.texts)
    tokens = sum(map(len, peer.ids(rows)))
    out = Path(tempfile.mkdtemp()) / "run"
    ways: dict[str, Callable[[], float]] = {
        "assay score, ort": lambda: assay(program, model, rows, {"backend": "ort"}, out),
        "assay score, rten": lambda: assay(program, model, rows, {"backend": "rten"}, out),
        "python, batches of 1": lambda: peer.run(rows, fixed(1)),
        "python, batches of 8": lambda: peer.run(rows, fixed(8)),
        "python, batches of 32": lambda: peer.run(rows, fixed(32)),
        "python, 2048 padded tokens": lambda: peer.run(rows, fifo(2048)),
    }
    print(f"{len(rows)} texts, {tokens} tokens")
    first = None
    for way, run in ways.items():
        seconds = min(run() for _ in range(given.turns))
        first = first or seconds
        print(f"{way:28} {tokens / seconds:8.0f} tokens/s   assay is {seconds / first:.2f}x", flush=True)


if __name__ == "__main__":
    main()
