"""Outcomes, evidence and texts of others on one line."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay._core import Component, Scored, Verdict

NOTE_CHARS_MAX = 400
"""The longest note on one line."""


def outcome_text(judged: Scored | Verdict | Component) -> str:
    """``1.0``, ``abstained: why`` or ``failed: Timeout: why``."""
    if judged.reward is not None:
        return repr(judged.reward)
    fault = f"{judged.fault}: " if judged.fault is not None else ""
    return f"{judged.outcome}: {fault}{visible(judged.why or '')}"


def evidence_text(component: Component) -> str:
    """The evidence of a component, behind its outcome."""
    known = ", ".join(f"{visible(key)} {note(value)}" for key, value in component.evidence.items())
    return f"  {known}" if known else ""


def note(value: Any) -> str:
    """A value on one line, cut where it is long."""
    import json

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = visible(text[: NOTE_CHARS_MAX + 1]).replace("\n", "\\n")
    return text if len(text) <= NOTE_CHARS_MAX else f"{text[:NOTE_CHARS_MAX]}…"


def visible(text: str) -> str:
    """The text with control, bidirectional and invisible characters as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _is_shown(character) else _escape(character) for character in text)


def _is_shown(character: str) -> bool:
    if character in "\n\t":
        return True
    return unicodedata.category(character) not in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def _escape(character: str) -> str:
    return f"\\u{{{ord(character):x}}}"
