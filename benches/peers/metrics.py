"""Metrics of texts beside sacrebleu and rouge-score: the same values, and the time of a pair in the same run.

    python3 -m venv target/peers-metrics
    target/peers-metrics/bin/pip install --require-hashes -r benches/peers/requirements-metrics.txt
    target/peers-metrics/bin/python benches/peers/metrics.py PAIRS.jsonl

PAIRS have a `response` and a `reference` each. Peers run on one thread; columns are times in microseconds, and how
many times as fast assay is by one thread, by two, and by one where eight texts have the same reference.
"""

from __future__ import annotations

import sys

sys.path.pop(0)  # A file beside this one must not hide the module `math`.

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

ROOT = Path(__file__).resolve().parents[2]
PASSES = 3


def peer(name: str) -> Callable[[str, str], float]:
    """The value of a metric for a text and its reference."""
    if name.startswith("rouge"):
        kind = name.removesuffix("-stem")
        rouge = RougeScorer([kind], use_stemmer=kind != name)
        return lambda text, reference: rouge.score(reference, text)[kind].fmeasure
    words = 2 if name == "chrf++" else 0
    metric = BLEU(effective_order=True) if name == "bleu" else CHRF(word_order=words)
    return lambda text, reference: metric.sentence_score(text, [reference]).score


def main() -> None:
    path = Path(sys.argv[1]).resolve()
    pairs = [json.loads(line) for line in path.read_text().splitlines()]
    bench = ["cargo", "bench", "-q", "-p", "assay-metrics", "--bench", "texts", "--", path]
    for line in subprocess.check_output(bench, text=True, cwd=ROOT).splitlines():
        name, *figures = line.split()
        due, one, two, shared = map(float, figures)
        score, times, total = peer(name), [], 0.0
        for _ in range(PASSES):
            # sacrebleu keeps the tokens of texts, which come once here.
            Tokenizer13a.__call__.cache_clear()
            TokenizerRegexp.__call__.cache_clear()
            start = time.perf_counter()
            total = sum(score(pair["response"], pair["reference"]) for pair in pairs)
            times.append(1e6 * (time.perf_counter() - start) / len(pairs))
        if abs(total - due) > 1e-9 * len(pairs):
            sys.exit(f"{name}: a sum of {total}, and {due} by assay")
        theirs = statistics.median(times)
        ratios = " ".join(f"{ours:8.2f} {theirs / ours:6.0f}x" for ours in (one, two, shared))
        print(f"{name:<15} {theirs:8.0f} {ratios}")


if __name__ == "__main__":
    main()
