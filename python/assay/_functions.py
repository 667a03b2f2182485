"""What takes one call."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from assay import _core
from assay._engine import Engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay._core import Verdict


class Answer(NamedTuple):
    """The answer of a completion.

    >>> assay.extract_answer("The answer is 18.").text
    '18'
    """

    text: str
    span: tuple[int, int]
    """Its place: ``completion.encode()[start:end]``."""
    standing: str = "stands"
    """``stands``, or ``retracted``, ``hedge``, ``supposed`` or ``denied``: then no check pays it."""
    against: tuple[int, int] | None = None
    """The place of the words that say so."""


def math_equal(answer: str, reference: str) -> bool:
    """Whether an answer is proved equal to a reference, as mathematics.

    >>> assay.math_equal("(x+1)^2", "x^2 + 2x + 1")
    True
    """
    return _core.math_equal(answer, reference)


def extract_answer(completion: str, prompt: str = "") -> Answer | None:
    """The answer that a completion gives, found as every check finds it.

    >>> assay.extract_answer("We get \\\\boxed{4}")
    Answer(text='4', span=(14, 15), standing='stands', against=None)
    >>> assay.extract_answer("The answer is 4. This result cannot be right.").standing
    'retracted'
    """
    found = _core.extract_answer(completion, prompt)
    return None if found is None else Answer(*found)


def check(
    verifier: str,
    *,
    completion: Any,
    reference: Any = None,
    prompt: Any = None,
    meta: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Verdict:
    """The verdict of one verifier on one completion. ``settings`` are those of the verifier.

    >>> assay.check("regex", completion="a1", pattern=r"[0-9]").reward
    1.0
    """
    import json

    engine = _engine(verifier, json.dumps(settings, sort_keys=True))
    sample = {"completion": completion, "prompt": prompt, "reference": reference, "meta": meta}
    [scored] = engine.score([sample])
    return scored.verdicts["check"]


@functools.lru_cache(maxsize=32)
def _engine(verifier: str, settings: str) -> Engine:
    import json

    reward = {"name": "check", "verifier": verifier, "config": json.loads(settings)}
    return Engine({"version": 1, "reward": [reward]}, cache=False)
