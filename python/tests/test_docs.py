"""Examples in docstrings, and in the documentation of the package."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import assay
import pytest

# Modules that import what a machine without torch does not have.
HEAVY = ("assay.export", "assay.__main__")

# The examples that a reader looks for first.
OFFERED = [
    *("Engine", "Engine.score", "Engine.score_async", "Engine.next_state", "check", "extract_answer", "math_equal"),
    *("advantages", "policy_loss", "kl_rewards", "select", "pass_at_k", "verifier"),
]


def modules() -> list[str]:
    """The modules of the package."""
    found = pkgutil.walk_packages(assay.__path__, "assay.", onerror=lambda _: None)
    return ["assay", *(module.name for module in found if not module.name.startswith(HEAVY))]


def examples(module: ModuleType) -> list[doctest.DocTest]:
    """The docstrings of a module that have examples. Each sees `assay`."""
    tests = doctest.DocTestFinder(exclude_empty=True).find(module, globs={"assay": assay, "__name__": "__main__"})
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in examples(importlib.import_module(name)):
        runner.run(test)
    assert runner.failures == 0


def test_what_the_package_offers_has_examples() -> None:
    shown = [test.name for name in modules() for test in examples(importlib.import_module(name))]
    for name in OFFERED:
        assert any(test.endswith(f".{name}") for test in shown), f"{name} has no example"
