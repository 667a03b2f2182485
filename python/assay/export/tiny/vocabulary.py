"""Vocabularies by counting: the trainers of WordPiece and Unigram give another one on each run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

LONGEST = 6


def word_pieces(words: Iterable[str], special: list[str], size: int) -> dict[str, int]:
    """Every character at both places, then the most frequent beginnings and ends of words."""
    counts: Counter[str] = Counter()
    for word in words:
        for place in range(1, len(word) + 1):
            counts[word[:place]] += place
            counts[f"##{word[place:]}"] += len(word) - place
    del counts["##"]
    single = sorted(piece for piece in counts if len(piece.removeprefix("##")) == 1)
    return {piece: number for number, piece in enumerate(_with_most(special, single, counts, size))}


def unigrams(words: Iterable[str], special: list[str], size: int) -> list[tuple[str, float]]:
    """Every character, then the most frequent parts of words, with their log-probabilities."""
    counts: Counter[str] = Counter()
    for word in words:
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + LONGEST) + 1):
                counts[word[start:end]] += end - start
    single = sorted(piece for piece in counts if len(piece) == 1)
    chosen = _with_most(special, single, counts, size)[len(special) :]
    total = sum(counts[piece] for piece in chosen)
    scored = [(piece, round(math.log(counts[piece] / total), 4)) for piece in chosen]
    return [*((text, 0.0) for text in special), *scored]


def _with_most(special: list[str], single: list[str], counts: Counter[str], size: int) -> list[str]:
    known = {*special, *single}
    others = sorted((piece for piece in counts if piece not in known), key=lambda piece: (-counts[piece], piece))
    return [*special, *single, *others][:size]
