"""Measures a GPU beside the CPU: parity, throughput by token budget, halving, workers, peers and IoBinding.

    python benches/peers/reward_models_gpu.py MODEL ASSAY LIBRARY [--provider cuda] [--texts N] [--cpu-texts N]
        [--cpu-model MODEL] [--budgets N…] [--leave-gib N] [--checkpoint FOLDER] [--only PART…]

MODEL and ASSAY are as for reward_models.py; LIBRARY is the folder of a libonnxruntime with the provider
beside it (the folder `onnxruntime/capi` of the wheel onnxruntime-gpu 1.31.1). The CUDA libraries must be
found by the loader (LD_LIBRARY_PATH). Rewards are held against those of --cpu-model on the CPU: give the fp32
model where MODEL is in fp16. --leave-gib takes memory of the GPU away, so that the largest batch does not fit;
--checkpoint names what `bench_model --checkpoint` kept, for transformers as a peer. What fails is told, and
the rest goes on. Needs benches/peers/requirements-models.txt with onnxruntime-gpu in place of onnxruntime,
and for --checkpoint torch and transformers.
"""

from __future__ import annotations

import os
import sys

# A neighbour of this file must not hide the module `math`, which pathlib needs.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import argparse
import ctypes
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from peers.reward_models import Peer, fifo, fixed, scored, workload

PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
}
BUDGETS = [512, 2_048, 8_192, 32_768, 131_072]
"""Padded tokens a batch. A GPU wants larger ones than a CPU."""
HUGE = 1 << 28
PARTS = ("cpu", "budgets", "huge", "peers", "transformers", "binding", "workers")

Rows = list[dict[str, str]]


def rewards(run: Path) -> np.ndarray:
    """The rewards of a run, in the order of its rows; NaN where there is none."""
    lines = (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return np.array([json.loads(line)["reward"] for line in lines], dtype=float)


@contextmanager
def held(leave_gib: float | None) -> Iterator[None]:
    """Holds the memory of the GPU but for `leave_gib`."""
    if leave_gib is None:
        yield
        return
    cuda = ctypes.CDLL("libcudart.so.13")
    free, total, pointer = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_void_p()
    cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
    size = max(0, free.value - int(leave_gib * 2**30))
    if cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)):
        raise SystemExit("no memory of the GPU can be held")
    try:
        yield
    finally:
        cuda.cudaFree(pointer)


class Bench:
    """The texts, and how a run over them is told."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.model, self.program = given.model.resolve(), given.assay.resolve()
        self.place = Path(tempfile.mkdtemp())
        self.peer = Peer(self.model, PROVIDERS[given.provider])
        self.rows = workload(self.peer, given.texts)
        start = time.perf_counter()
        self.ids = self.peer.ids(self.rows)
        spent = time.perf_counter() - start
        self.tokens = sum(map(len, self.ids))
        print(
            f"{len(self.rows)} texts, {self.tokens} tokens; template and tokenizer in Python "
            f"{self.tokens / spent:.0f} tokens/s",
            flush=True,
        )
        self.expected: np.ndarray | None = None
        self.run = {"backend": "ort", "providers": [given.provider], "workers": 1, "verify_digests": False}
        self.starts: dict[str, float] = {}

    def told(self, name: str, measure: Callable[[], tuple[float, str]], rows: int | None = None) -> None:
        """Prints what a way comes to, or that it failed."""
        try:
            seconds, more = measure()
        except subprocess.CalledProcessError as failed:
            print(f"{name:44} failed: exit code {failed.returncode}", flush=True)
            return
        count = rows or len(self.rows)
        tokens = sum(map(len, self.ids[:count]))
        figures = f"{tokens / seconds:9.0f} tokens/s {count / seconds:8.1f} texts/s"
        print(f"{name:44} {figures}  {more}".rstrip(), flush=True)

    def assay(self, name: str, run: dict[str, object]) -> tuple[float, str]:
        """Seconds of `assay score` without its start, and how far its rewards are from those of the CPU."""
        settings = json.dumps({key: value for key, value in run.items() if key != "batch_tokens"})
        if settings not in self.starts:
            turns = [scored(self.program, self.model, self.rows[:1], run, self.place / "start") for _ in range(2)]
            self.starts[settings] = min(turns)
        out = self.place / name
        seconds = scored(self.program, self.model, self.rows, run, out) - self.starts[settings]
        return seconds, self.parity(rewards(out)) + f", start {self.starts[settings]:.1f} s"

    def parity(self, found: np.ndarray) -> str:
        """How far rewards are from those of the CPU."""
        missing = int(np.isnan(found).sum())
        lost = f"{missing} without a reward, " if missing else ""
        if self.expected is None:
            return f"{lost}not compared"
        found = found[: len(self.expected)]
        ranks = np.corrcoef(self.expected.argsort().argsort(), found.argsort().argsort())[0, 1]
        return f"{lost}largest difference {np.nanmax(np.abs(found - self.expected)):.1e}, Spearman {ranks:.5f}"

    def cpu(self) -> None:
        """The rewards and the speed of the CPU, on the first texts alone."""
        model = (self.given.cpu_model or self.model).resolve()
        rows = self.rows[: self.given.cpu_texts]
        run: dict[str, object] = {"backend": "ort", "providers": ["cpu"], "verify_digests": False}

        def measure() -> tuple[float, str]:
            start = scored(self.program, model, rows[:1], run, self.place / "cpu-start")
            seconds = scored(self.program, model, rows, run, self.place / "cpu") - start
            self.expected = rewards(self.place / "cpu")
            return seconds, f"{os.cpu_count()} cores, start {start:.1f} s"

        self.told("assay, cpu, 512 tokens a batch", measure, len(rows))

    def budgets(self) -> None:
        """The throughput by token budget."""
        for budget in self.given.budgets:
            run = {**self.run, "batch_tokens": budget}
            name = f"assay, {self.given.provider}, {budget} tokens a batch"
            self.told(name, lambda budget=budget, run=run: self.assay(str(budget), run))

    def huge(self) -> None:
        """Everything that waits at once: it is halved where memory ends."""
        left = self.given.leave_gib
        with held(left):
            name = "assay, everything at once" + ("" if left is None else f", {left:g} GiB")
            self.told(name, lambda: self.assay("huge", {**self.run, "batch_tokens": HUGE}))

    def workers(self) -> None:
        """More than one batch at a time."""
        for workers in (2, 4):
            run = {**self.run, "workers": workers, "batch_tokens": self.given.workers_budget}
            name = f"assay, {workers} workers, {self.given.workers_budget} tokens a batch"
            self.told(name, lambda run=run: self.assay("workers", run))

    def peers(self) -> None:
        """What a user writes in an afternoon."""
        self.peer.score(self.ids[:32])
        ways = {
            "batches of 8": fixed(8),
            "batches of 32": fixed(32),
            "8192 padded tokens": fifo(8_192),
        }
        for way, batches in ways.items():
            name = f"python onnxruntime, {self.given.provider}, {way}"
            self.told(name, lambda batches=batches: (self.peer.run(self.rows, batches), ""))

    def binding(self) -> None:
        """Batches of 64 texts of one length, with and without outputs bound to the device."""
        length = max(map(len, self.ids))
        batch = np.array([(row * (length // len(row) + 1))[:length] for row in self.ids[:64]], dtype=np.int64)
        feeds = {
            "input_ids": batch,
            "attention_mask": np.ones_like(batch),
            "score_positions": np.full((len(batch), 1), length - 1),
        }
        binding = self.peer.session.io_binding()
        for name, value in feeds.items():
            binding.bind_cpu_input(name, value)
        binding.bind_output("scores", "cuda" if self.given.provider != "cpu" else "cpu")
        ways: dict[str, Callable[[], object]] = {
            "a plain run": lambda: self.peer.session.run(None, feeds),
            "outputs bound to the device": lambda: self.peer.session.run_with_iobinding(binding),
        }
        for way, run in ways.items():
            run()
            start = time.perf_counter()
            for _ in range(10):
                run()
            spent = (time.perf_counter() - start) / 10
            print(f"{len(batch)} texts of {length} tokens, {way}: {1000 * spent:.1f} ms", flush=True)

    def transformers(self) -> None:
        """transformers on torch, in batches of 32 in the order of arrival."""
        if self.given.checkpoint is None:
            return
        import torch
        from transformers import AutoModelForSequenceClassification

        device = "cpu" if self.given.provider == "cpu" else "cuda"
        for dtype in (torch.float32, torch.bfloat16):
            read = AutoModelForSequenceClassification.from_pretrained(self.given.checkpoint, dtype=dtype)
            model = read.to(device).eval()

            @torch.inference_mode()
            def score(batch: list[list[int]], model: torch.nn.Module = model) -> list[float]:
                width = max(map(len, batch))
                rows = [row + [model.config.pad_token_id] * (width - len(row)) for row in batch]
                mask = [[1] * len(row) + [0] * (width - len(row)) for row in batch]
                given = {"input_ids": torch.tensor(rows).to(device), "attention_mask": torch.tensor(mask).to(device)}
                return model(**given).logits[:, 0].float().tolist()

            def measure() -> tuple[float, str]:
                found: list[float] = []
                start = time.perf_counter()
                for batch in fixed(32)(self.peer.ids(self.rows)):
                    found += score(batch)
                return time.perf_counter() - start, self.parity(np.array(found))

            score(self.ids[:32])
            self.told(f"transformers, {str(dtype).removeprefix('torch.')}, batches of 32", measure)
            del read, model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("assay", type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("--provider", choices=sorted(PROVIDERS), default="cuda")
    parser.add_argument("--texts", type=int, default=2048)
    parser.add_argument("--cpu-texts", type=int, default=256)
    parser.add_argument("--cpu-model", type=Path)
    parser.add_argument("--budgets", type=int, nargs="+", default=BUDGETS)
    parser.add_argument("--workers-budget", type=int, default=8_192)
    parser.add_argument("--leave-gib", type=float)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS)
    given = parser.parse_args()
    os.environ["ASSAY_ORT_LIB"] = str(given.library.resolve())
    bench = Bench(given)
    for part in PARTS:
        if part in given.only:
            getattr(bench, part)()


if __name__ == "__main__":
    main()
