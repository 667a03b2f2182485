"""Labelled mathematical answers, judged by assay and by Math-Verify in one run.

    python3 -m venv target/peers-math
    target/peers-math/bin/pip install --no-deps --require-hashes -r benches/peers/requirements-math.txt
    target/peers-math/bin/pip download --no-deps --no-binary :all: --dest target math-verify==0.9.0
    target/peers-math/bin/python benches/peers/math.py [ROWS.jsonl[.gz] | math_verify-0.9.0.tar.gz ...]

Without arguments: GSM8K, HardVerify-Math, and Math-Verify's own tests if the source package was downloaded.

Rows have a `completion` (or a `response`), a `reference` and a `label` that says whether they are
equal. A source package of Math-Verify gives the pairs of its tests. `false+` counts wrong answers that
were accepted, `refused` right answers that were not. The whole process is pinned to one core.

`rows/s` is per second of processor time: for assay of the whole command, start and files included; for
Math-Verify of `parse` and `verify`, without its imports.
The times of a pair include extraction: for assay from timings.jsonl, for Math-Verify around two calls of
`parse` and one of `verify`, as its README shows. Math-Verify reads LaTeX between dollars only, so a
reference or an answer that is nothing but mathematics is put between them. assay is
target/release/assay, or what ASSAY names.
"""

import sys

sys.path.pop(0)  # The name of this file must not hide the module `math`.

import ast
import gzip
import json
import logging
import os
import re
import resource
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSAY = os.environ.get("ASSAY", ROOT / "target/release/assay")
DATASETS = ROOT / "fixtures/datasets"
DEFAULT = [DATASETS / "gsm8k-openai.jsonl.gz", DATASETS / "hardverify-math.jsonl.gz"]
OWN_TESTS = ROOT / "target/math_verify-0.9.0.tar.gz"
PROSE = r"[a-zA-Z]{2,},? [a-zA-Z]{2,},? [a-zA-Z]{2,}"


def is_literal(node):
    return not any(isinstance(part, ast.JoinedStr) for part in ast.walk(node))


def test_pairs(package):
    """The pairs of Math-Verify's parametrised tests, each once, with what it expects of them."""
    pairs = {}
    with tarfile.open(package) as files:
        for member in sorted(files.getnames()):
            if not re.search(r"/tests/test_\w+\.py$", member):
                continue
            for node in ast.walk(ast.parse(files.extractfile(member).read())):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("parametrize"):
                    names = [name.strip() for name in ast.literal_eval(node.args[0]).split(",")]
                    if names == ["gold", "pred", "expected"]:
                        for case in filter(is_literal, node.args[1].elts):
                            gold, pred, expected = ast.literal_eval(case)
                            pairs[gold, pred] = bool(expected)
    for (gold, pred), expected in pairs.items():
        yield {"completion": pred, "prompt": "", "reference": gold, "label": expected}


def rows_of(path):
    if path.name.endswith(".tar.gz"):
        yield from test_pairs(path)
        return
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(
        path, encoding="utf-8")
    with opened as lines:
        for row in map(json.loads, lines):
            if isinstance(row.get("label"), bool):
                yield {"completion": row.get("completion", row.get("response")),
                       "prompt": row.get("prompt", ""), "reference": row["reference"],
                       "label": row["label"]}


def child_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def assay(rows):
    """Accepted or not, the microseconds of each pair, and the processor seconds of all."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with open(folder / "rows.jsonl", "w", encoding="utf-8") as file:
            for at, row in enumerate(rows):
                file.write(json.dumps({"id": str(at), **row}) + "\n")
        (folder / "assay.toml").write_text(
            'version = 1\n[[reward]]\nname = "correct"\nverifier = "math"\n')
        spent = child_seconds()
        subprocess.run([ASSAY, "score", folder / "assay.toml", folder / "rows.jsonl", "--output",
                        folder / "run", "--jobs", "1", "--no-cache", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        seconds = child_seconds() - spent
        with open(folder / "run/verdicts.jsonl", encoding="utf-8") as file:
            accepted = [json.loads(line)["reward"] == 1 for line in file]
        with open(folder / "run/timings.jsonl", encoding="utf-8") as file:
            times = [json.loads(line)["us"]["correct"] for line in file]
    return accepted, times, seconds


def math_verify(rows):
    from math_verify import parse, verify
    logging.disable(logging.CRITICAL)

    def between_dollars(text):
        prose = "\n" in text or "$" in text or "\\boxed" in text or re.search(PROSE, text)
        return text if prose else f"${text}$"

    accepted, times, spent = [], [], time.process_time()
    for row in rows:
        start = time.perf_counter()
        gold = parse(between_dollars(str(row["reference"])))
        answer = parse(between_dollars(row["completion"]))
        accepted.append(bool(verify(gold, answer)))
        times.append(1e6 * (time.perf_counter() - start))
    return accepted, times, time.process_time() - spent


def shown(microseconds):
    return f"{microseconds:.0f} us" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def main():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    paths = [Path(name) for name in sys.argv[1:]]
    paths = paths or DEFAULT + [OWN_TESTS] * OWN_TESTS.exists()
    print(f"{'rows':22}{'grader':13}{'right':>6}{'wrong':>6}{'agree':>9}{'false+':>8}{'refused':>9}"
          f"{'rows/s':>9}{'median':>10}{'p99':>10}{'worst':>10}")
    for path in paths:
        rows = list(rows_of(path))
        labels = [row["label"] for row in rows]
        right, wrong = sum(labels), len(labels) - sum(labels)
        name = re.sub(r"(\.tar|\.jsonl)?(\.gz)?$", "", path.name)
        for grader, judge in (("assay", assay), ("Math-Verify", math_verify)):
            accepted, times, seconds = judge(rows)
            pairs = list(zip(accepted, labels))
            agree = sum(got == label for got, label in pairs) / len(pairs)
            false = sum(got and not label for got, label in pairs)
            refused = sum(label and not got for got, label in pairs)
            times.sort()
            p50, p99 = (times[int((len(times) - 1) * share)] for share in (0.5, 0.99))
            print(f"{name:22}{grader:13}{right:6}{wrong:6}{agree:9.2%}{false:8}{refused:9}"
                  f"{len(rows) / seconds:9.0f}{shown(p50):>10}{shown(p99):>10}{shown(times[-1]):>10}",
                  flush=True)


if __name__ == "__main__":
    main()
