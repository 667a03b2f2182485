"""What tests of trainers share."""

from __future__ import annotations

import os

# Ray starts no dashboard and reports nothing; one thread is enough for a model of this size.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
