"""The response of a text that holds the prompt before it, as tokenizers give both back."""

from __future__ import annotations

import re

SPECIAL = re.compile(
    r"(?:<\|[^<>|\s]{1,40}\|>|<｜[^<>｜\s]{1,40}｜>|</?s>|<(?:eos|bos|pad|end_of_turn)>|\[PAD\])\Z"
)
"""A token that ends a text."""
LONGEST = 48
TAIL = 16
"""The least part of a prompt, without white space, by which its end is known."""


def response_of(query: str, prompt: str) -> str | None:
    """What follows the prompt, without the tokens that end a text. ``None``: the prompt is not there.

    A tokenizer may change white space, and a trainer cut the beginning of a long prompt off.

    >>> from assay.adapters._response import response_of
    >>> response_of("Q: 1+1? A: 2</s>", "Q: 1+1? A:")
    ' 2'
    """
    if query.startswith(prompt):
        return _ended(query[len(prompt) :])
    places = [at for at, letter in enumerate(query) if not letter.isspace()]
    text = "".join(query[at] for at in places)
    start = "".join(prompt.split())
    length = len(start) if text.startswith(start) else _overlap(start, text)
    if length < min(TAIL, len(start)):
        return None
    return _ended(query[places[length - 1] + 1 :] if length else query)


def _ended(response: str) -> str:
    """The response before the tokens that end it, and before white space around these."""
    kept = end = len(response)
    while True:
        while end and response[end - 1].isspace():
            end -= 1
        start = max(0, end - LONGEST)
        found = SPECIAL.search(response[start:end])
        if found is None:
            return response[:kept]
        kept = end = start + found.start()


def _overlap(prompt: str, text: str) -> int:
    """The length of the longest end of the prompt with which a text begins."""
    borders = [0] * len(text)
    length = 0
    for at in range(1, len(text)):
        while length and text[at] != text[length]:
            length = borders[length - 1]
        length += text[at] == text[length]
        borders[at] = length
    length = 0
    for letter in prompt[-len(text) :] if text else "":
        while length and (length == len(text) or letter != text[length]):
            length = borders[length - 1]
        length += letter == text[length]
    return length
