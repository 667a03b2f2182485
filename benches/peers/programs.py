"""Programs a second: `unit_tests` beside `python3`, a process for each program, in one run.

    python3 benches/peers/programs.py [DATASET] [--rounds N]

DATASET is JSON lines (gzip) with `response`, `reference.test` and `outcome`, by default the programs of
fixtures/datasets. Those that do not end are left out: they measure limits. Both use every core: assay is
target/release/assay with its default settings and without a cache, and python3 is this interpreter with `-I`,
which runs the program and its tests as one script, without limits and without protection.
"""

import argparse
import concurrent.futures
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60


def native(row):
    script = f"{row['response']}\n\n{row['reference']['test']}\n"
    run = subprocess.run([sys.executable, "-I", "-c", script], stdin=subprocess.DEVNULL, timeout=TIMEOUT_S,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run.returncode == 0


def of_python(rows):
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(native, rows))
    return passed, time.monotonic() - start


def of_assay(rows, assay):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "assay.toml").write_text(
            'version = 1\n[data]\ncompletion = "response"\n'
            '[[reward]]\nname = "tests"\nverifier = "unit_tests"\n')
        start = time.monotonic()
        subprocess.run([assay, "score", folder / "assay.toml", folder / "rows.jsonl", "--no-cache",
                        "--output", folder / "run"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        lines = (folder / "run/verdicts.jsonl").read_text().splitlines()
    return [json.loads(line)["reward"] == 1 for line in lines], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default=ROOT / "fixtures/datasets/code-humaneval.jsonl.gz")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--assay", default=ROOT / "target/release/assay")
    given = parser.parse_args()
    with gzip.open(given.dataset, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if row["outcome"] != "timeout"]
    labels = [row["outcome"] == "pass" for row in rows]
    of_assay(rows[:8], given.assay)
    ratios = []
    for _ in range(given.rounds):
        ours, seconds = of_assay(rows, given.assay)
        theirs, peer_seconds = of_python(rows)
        ratios.append(peer_seconds / seconds)
        # python3 runs what is here alone; some programs lean on an import of their prompt.
        wrong = [sum(one != label for one, label in zip(all_, labels, strict=True)) for all_ in (ours, theirs)]
        print(f"{len(rows)} programs: assay {len(rows) / seconds:.0f}/s, python3 "
              f"{len(rows) / peer_seconds:.0f}/s, {ratios[-1]:.2f}x; verdicts that differ from the labels: "
              f"{wrong[0]} of assay, {wrong[1]} of python3", flush=True)
    print(f"median {statistics.median(ratios):.2f}x")


if __name__ == "__main__":
    main()
