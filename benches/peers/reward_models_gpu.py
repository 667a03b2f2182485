"""Measures a GPU beside the CPU: parity, throughput, halving, IoBinding, and what the tokenizer takes.

    python benches/peers/reward_models_gpu.py MODEL ASSAY LIBRARY [--texts N] [--provider cuda]

MODEL and ASSAY are as for reward_models.py; LIBRARY is the folder of a libonnxruntime with the provider
beside it (the folder `onnxruntime/capi` of the wheel onnxruntime-gpu 1.31.1). Its CUDA libraries must be
found by the loader. Needs benches/peers/requirements-models.txt with onnxruntime-gpu in place of
onnxruntime.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parent.parent)  # A neighbour of this file must not hide the module `math`.

import argparse
import json
import os
import tempfile
import time

import numpy as np

from peers.reward_models import Peer, assay, workload

BUDGETS = [512, 2_048, 8_192, 32_768, 131_072]
"""Padded tokens a batch. A GPU wants larger ones than a CPU."""
HUGE = 1 << 28


def rewards(run: Path) -> np.ndarray:
    """The rewards of a run, in the order of its rows."""
    lines = (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return np.array([json.loads(line)["reward"] for line in lines], dtype=float)


def bound(peer: Peer, ids: list[list[int]], iobinding: bool) -> float:
    """Seconds of batches of 64 texts of one length, with and without outputs bound to the device."""
    length = max(map(len, ids))
    batch = np.array([(row * (length // len(row) + 1))[:length] for row in ids[:64]], dtype=np.int64)
    feeds = {
        "input_ids": batch,
        "attention_mask": np.ones_like(batch),
        "score_positions": np.full((len(batch), 1), length - 1),
    }
    binding = peer.session.io_binding()
    for name, value in feeds.items():
        binding.bind_cpu_input(name, value)
    binding.bind_output("scores", "cuda")
    run = (lambda: peer.session.run_with_iobinding(binding)) if iobinding else (lambda: peer.session.run(None, feeds))
    run()
    start = time.perf_counter()
    for _ in range(10):
        run()
    return (time.perf_counter() - start) / 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("assay", type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("--texts", type=int, default=2048)
    parser.add_argument("--provider", default="cuda")
    given = parser.parse_args()
    os.environ["ASSAY_ORT_LIB"] = str(given.library.resolve())
    model, program = given.model.resolve(), given.assay.resolve()
    peer = Peer(model, {"cuda": "CUDAExecutionProvider", "tensorrt": "TensorrtExecutionProvider"}[given.provider])
    rows = workload(peer, given.texts)
    start = time.perf_counter()
    ids = peer.ids(rows)
    tokens, spent = sum(map(len, ids)), time.perf_counter() - start
    print(f"{len(rows)} texts, {tokens} tokens; template and tokenizer {tokens / spent:.0f} tokens/s")
    place = Path(tempfile.mkdtemp())
    on_cpu = {"backend": "ort", "providers": ["cpu"]}
    on_gpu = {"backend": "ort", "providers": [given.provider, "cpu"], "workers": 1}
    seconds = assay(program, model, rows, on_cpu, place / "cpu")
    print(f"cpu, 512 tokens a batch: {tokens / seconds:.0f} tokens/s")
    expected = rewards(place / "cpu")
    for budget in [*BUDGETS, HUGE]:
        out = place / str(budget)
        seconds = assay(program, model, rows, {**on_gpu, "batch_tokens": budget}, out)
        found = rewards(out)
        ranks = np.corrcoef(expected.argsort().argsort(), found.argsort().argsort())[0, 1]
        told = f"largest difference {np.abs(found - expected).max():.1e}, Spearman {ranks:.4f}"
        name = "everything at once (halved where memory ends)" if budget == HUGE else f"{budget} tokens a batch"
        print(f"{given.provider}, {name}: {tokens / seconds:.0f} tokens/s; {told}", flush=True)
    for iobinding in (False, True):
        how = "outputs bound to the device" if iobinding else "plain run"
        print(f"64 texts of {max(map(len, ids))} tokens, {how}: {1000 * bound(peer, ids, iobinding):.1f} ms")


if __name__ == "__main__":
    main()
