"""Pictures for notebooks."""

from __future__ import annotations

import html


def of_result(result: object) -> str:
    """A result as HTML."""
    return f"<pre>{html.escape(repr(result))}</pre>"
