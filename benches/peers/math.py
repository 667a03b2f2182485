"""Labelled mathematical answers, before assay and before Math-Verify, in one run.

    python3 -m venv target/peers-math
    target/peers-math/bin/pip install --no-deps --require-hashes -r benches/peers/requirements-math.txt
    target/peers-math/bin/python benches/peers/math.py [ROWS.jsonl[.gz] ...]

Rows have a `completion` (or a `response`), a `reference` and a `label` that says whether they are
equal. Both judge on one thread. A time is that of one pair, finding the answer included: for assay
from the run's timings.jsonl, for Math-Verify around two calls of `parse` and one of `verify`, in the
way that its README shows. Math-Verify reads LaTeX between dollars alone, so a reference or an answer
that is nothing but mathematics is put between them. assay is target/release/assay, or what ASSAY names.
"""

import sys

sys.path.pop(0)  # The name of this file must not hide the module `math`.

import gzip
import json
import logging
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSAY = os.environ.get("ASSAY", ROOT / "target/release/assay")
DEFAULT = [ROOT / "fixtures/datasets/gsm8k-openai.jsonl.gz"]
PROSE = r"[a-zA-Z]{2,},? [a-zA-Z]{2,},? [a-zA-Z]{2,}"


def rows_of(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(
        path, encoding="utf-8")
    with opened as lines:
        for row in map(json.loads, lines):
            if isinstance(row.get("label"), bool):
                yield {"completion": row.get("completion", row.get("response")),
                       "prompt": row.get("prompt", ""), "reference": row["reference"],
                       "label": row["label"]}


def assay(rows):
    """Accepted or not, and the microseconds of each pair."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with open(folder / "rows.jsonl", "w", encoding="utf-8") as file:
            for at, row in enumerate(rows):
                file.write(json.dumps({"id": str(at), **row}) + "\n")
        (folder / "assay.toml").write_text(
            'version = 1\n[[reward]]\nname = "correct"\nverifier = "math"\n')
        subprocess.run([ASSAY, "score", folder / "assay.toml", folder / "rows.jsonl", "--output",
                        folder / "run", "--jobs", "1", "--no-cache", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(folder / "run/verdicts.jsonl", encoding="utf-8") as file:
            accepted = [json.loads(line)["reward"] == 1 for line in file]
        with open(folder / "run/timings.jsonl", encoding="utf-8") as file:
            times = [json.loads(line)["us"]["correct"] for line in file]
    return accepted, times


def math_verify(rows):
    from math_verify import parse, verify
    logging.disable(logging.CRITICAL)

    def between_dollars(text):
        prose = "\n" in text or "$" in text or "\\boxed" in text or re.search(PROSE, text)
        return text if prose else f"${text}$"

    accepted, times = [], []
    for row in rows:
        start = time.perf_counter()
        gold = parse(between_dollars(str(row["reference"])))
        answer = parse(between_dollars(row["completion"]))
        accepted.append(bool(verify(gold, answer)))
        times.append(1e6 * (time.perf_counter() - start))
    return accepted, times


def shown(microseconds):
    return f"{microseconds:.0f} us" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def main():
    paths = [Path(name) for name in sys.argv[1:]] or DEFAULT
    print(f"{'rows':26}{'grader':14}{'pairs':>7}{'agree':>9}{'found':>9}{'false+':>8}"
          f"{'median':>11}{'p99':>11}{'worst':>11}")
    for path in paths:
        rows = list(rows_of(path))
        labels = [row["label"] for row in rows]
        name = path.name.removesuffix(".gz").removesuffix(".jsonl")
        for grader, judge in (("assay", assay), ("Math-Verify", math_verify)):
            accepted, times = judge(rows)
            pairs = list(zip(accepted, labels))
            agree = sum(got == label for got, label in pairs) / len(pairs)
            found = sum(got and label for got, label in pairs) / max(1, sum(labels))
            false = sum(got and not label for got, label in pairs)
            times.sort()
            p50, p99 = (times[int((len(times) - 1) * share)] for share in (0.5, 0.99))
            print(f"{name:26}{grader:14}{len(rows):7}{agree:9.2%}{found:9.2%}{false:8}"
                  f"{shown(p50):>11}{shown(p99):>11}{shown(times[-1]):>11}", flush=True)


if __name__ == "__main__":
    main()
