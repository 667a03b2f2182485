"""Adapters need their trainers only when they are used."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import assay.adapters

FOLDER = Path(assay.adapters.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
TRAINERS = (
    "areal atroposlib inspect_ai lm_eval nemo_rl openrlhf ray skyrl_gym slime swift torch trl verifiers verl"
).split()
TRAINERS += ["hud", "openenv", "rllm", "tinker", "tinker_cookbook"]
LOADED = """
import importlib, sys
importlib.import_module(f"assay.adapters.{sys.argv[1]}")
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""


def test_there_is_one_for_each_trainer() -> None:
    named = {"areal", "atropos", "easyr1", "inspect_ai", "lm_eval", "ms_swift", "nemo_rl", "openrlhf"}
    assert named | {"skyrl_gym", "slime", "trl", "verifiers", "verl"} <= set(NAMES)
    assert {"hud", "openenv", "rllm", "tinker"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_import_loads_no_trainer(name: str) -> None:
    command = [sys.executable, "-c", LOADED, name, *TRAINERS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", NAMES)
def test_what_is_public_is_said(name: str) -> None:
    module = importlib.import_module(f"assay.adapters.{name}")
    assert module.__doc__
    for member in vars(module).values():
        if getattr(member, "__module__", None) == module.__name__ and callable(member):
            own = getattr(member, "__name__", "_")
            assert own.startswith("_") or member.__doc__, f"{own} has no docstring"
