"""Renders template.jinja as docs/model-folder.md says, so that it can be held against the authors' way."""

from __future__ import annotations

from tokenizers import Tokenizer

from .chat import environment
from .sample import Encoded

MARK = "\uf8f0"
CUT = "\uf8f1"
PAIR = "\uf8f2"


def render(template: str, chat: str, tokens: dict[str, str], values: dict[str, object]) -> str:
    """The text of a sample, with MARK, CUT and PAIR in it."""
    conversation = environment().from_string(chat)

    def call(messages: list[dict[str, str]], add_generation_prompt: bool = False) -> str:
        return conversation.render(messages=messages, add_generation_prompt=add_generation_prompt, **tokens)

    return environment().from_string(template).render(chat=call, mark=MARK, cut=CUT, pair=PAIR, **tokens, **values)


def tokenize(text: str, tokenizer: Tokenizer, special: bool, strip_bos: int | None) -> Encoded:
    """Token ids and positions of a rendered text. `strip_bos` is the id that may not lead twice."""
    if PAIR in text:
        encoding = tokenizer.encode(*text.split(PAIR), add_special_tokens=special)
        return Encoded(encoding.ids, [len(encoding.ids) - 1], encoding.type_ids)
    ids: list[int] = []
    positions: list[int] = []
    for part, piece in enumerate(text.split(CUT)):
        places, plain = _take_marks(piece)
        encoding = tokenizer.encode(plain, add_special_tokens=special and part == 0)
        drop = int(strip_bos is not None and encoding.ids[:2] == [strip_bos] * 2)
        base = len(ids) - drop
        positions += [base + _token_before(encoding.offsets, place) for place in places]
        ids += encoding.ids[drop:]
    return Encoded(ids, positions or [len(ids) - 1])


def _take_marks(piece: str) -> tuple[list[int], str]:
    runs = piece.split(MARK)
    places = []
    length = 0
    for run in runs[:-1]:
        length += len(run)
        places.append(length)
    return places, "".join(runs)


def _token_before(offsets: list[tuple[int, int]], place: int) -> int:
    """The last token that holds the character before `place`; −1 at the start of a part."""
    holding = [i for i, (start, end) in enumerate(offsets) if start < place <= end]
    return holding[-1] if holding else -1
