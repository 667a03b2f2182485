"""Writes solutions that the training never sees: `python -m arithmetic_prm.solutions OUT [--count N]`."""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path

from .arithmetic import solution

SEED = 2_000_000
"""Training measures itself on the seeds from 1,000,000 on."""


def main() -> None:
    """JSON lines, gzip, with the columns that `assay score` and `assay eval processbench` read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=200)
    given = parser.parse_args()
    lines = []
    for place in range(given.count):
        made = solution(random.Random(SEED + place), unseen=True)
        row = {
            "id": f"arithmetic-{place}",
            "prompt": made.problem,
            "completion": "\n\n".join(made.steps),
            "steps": made.steps,
            "label": made.first_error,
            "right": made.first_error < 0,
        }
        lines.append(json.dumps(row) + "\n")
    given.out.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    main()
