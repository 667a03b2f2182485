"""Conversations as prompts and completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay._functions import extract_answer

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


def completion_of(turns: list[dict[str, str]]) -> str | list[dict[str, str]]:
    """What is judged of a conversation: the text of its only turn, else all turns."""
    return turns if len(turns) > 1 else turns[0]["content"]


def answer_of(completion: str, prompt: str = "") -> str | None:
    """The answer that a completion gives, as every check finds it; ``None`` where there is none."""
    found = extract_answer(completion, prompt)
    return None if found is None else found.text
