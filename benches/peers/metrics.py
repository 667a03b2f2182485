"""Metrics of texts beside sacrebleu and rouge-score: the same values, and the time of a pair in the same run.

    python3 -m venv target/peers-metrics
    target/peers-metrics/bin/pip install --require-hashes -r benches/peers/requirements-metrics.txt
    target/peers-metrics/bin/python benches/peers/metrics.py PAIRS.jsonl

PAIRS have a `response` and a `reference` each. Columns are the time of a pair in microseconds by the peer, and by
assay with how many times as fast that is: by one thread, by two, and by one where eight texts have the same
reference. Times are the least of several passes: of each pair for the peer, of all pairs for assay.
"""

from __future__ import annotations

import sys

sys.path.pop(0)  # A file beside this one must not hide the module `math`.

import json
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
        score, least = peer(name), [float("inf")] * len(pairs)
        for _ in range(PASSES):
            # sacrebleu keeps the tokens of texts, which come once here.
            Tokenizer13a.__call__.cache_clear()
            TokenizerRegexp.__call__.cache_clear()
            total = 0.0
            for at, pair in enumerate(pairs):
                start = time.perf_counter()
                total += score(pair["response"], pair["reference"])
                least[at] = min(least[at], time.perf_counter() - start)
        if abs(total - due) > 1e-9 * len(pairs):
            sys.exit(f"{name}: a sum of {total}, and {due} by assay")
        theirs = 1e6 * sum(least) / len(pairs)
        ratios = " ".join(f"{ours:8.2f} {theirs / ours:6.0f}x" for ours in (one, two, shared))
        print(f"{name:<15} {theirs:8.0f} {ratios}")


if __name__ == "__main__":
    main()
