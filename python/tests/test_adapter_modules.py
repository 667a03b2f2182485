"""Adapters need their trainers only when they are used."""

from __future__ import annotations

import importlib
import inspect
import runpy
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any, get_type_hints

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


TABLE: dict[str, Any] = runpy.run_path(str(Path(__file__).parent / "trainers" / "table.py"))


def test_there_is_one_for_each_trainer() -> None:
    named = {"areal", "atropos", "easyr1", "inspect_ai", "lm_eval", "ms_swift", "nemo_rl", "openrlhf"}
    assert named | {"skyrl_gym", "slime", "trl", "verifiers", "verl"} <= set(NAMES)
    assert {"hud", "openenv", "rllm", "tinker"} <= set(NAMES)


@pytest.mark.parametrize(("name", "trainer"), TABLE["adapters"]().items())
def test_what_a_trainer_makes_of_a_fault_is_said(name: str, trainer: Any) -> None:
    assert trainer.uses and trainer.fault
    assert f"`{name}." in trainer.uses
    assert TABLE["links"](name, trainer.name)[0].startswith(f"[{trainer.name}]("), "its page is missing"


def test_the_table_of_trainers_is_the_one_that_is_written() -> None:
    page = TABLE["README"].read_text(encoding="utf-8")
    written = TABLE["BEGIN"] + TABLE["table"]() + TABLE["END"]
    assert written in page, "write it by `python tests/trainers/table.py`"


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


@pytest.mark.parametrize("name", NAMES)
def test_annotations_can_be_read_where_they_are_used(name: str) -> None:
    module = importlib.import_module(f"assay.adapters.{name}")
    own = [one for one in vars(module).values() if getattr(one, "__module__", None) == module.__name__]
    members = [member for kind in own if inspect.isclass(kind) for member in vars(kind).values()]
    for function in [*own, *members]:
        if isinstance(function, FunctionType):
            assert get_type_hints(function), f"{function.__qualname__} has no annotations"
