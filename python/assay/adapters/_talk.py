"""Conversations as prompts and completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def split(messages: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A conversation up to the first answer, and from there on; of each message role and content.

    >>> from assay.adapters._talk import split
    >>> split([{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"}])
    ([{'role': 'user', 'content': '1 + 1?'}], [{'role': 'assistant', 'content': '2'}])
    """
    kept = [{"role": one["role"], "content": one["content"]} for one in messages]
    roles = [one["role"] for one in kept]
    start = roles.index("assistant") if "assistant" in roles else len(roles)
    return kept[:start], kept[start:]
