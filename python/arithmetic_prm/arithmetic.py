"""Arithmetic in several steps, with one error at most: what the process model of the demo learns from.

A problem says what to do with a number, a solution does it step by step. An error is a wrong result, a
number or an operation that the problem does not name, or a number that the step before did not give;
what follows an error goes on from it without another.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

WORDS = {"+": "plus", "-": "minus", "*": "times"}
HELD_OUT = 8
"""One problem of so many, by its checksum, is never trained on."""


@dataclass(frozen=True)
class Solution:
    """A problem, the steps of a solution, and the first wrong one: -1 where all are right."""

    problem: str
    steps: list[str]
    first_error: int
    """What the first wrong step would have been without the error; empty where there is none."""
    mended: str


def solution(rng: random.Random, unseen: bool, error_rate: float = 0.6, longest: int = 5) -> Solution:
    """One problem of at most `longest` operations and a solution of it, right or with an error.

    `unseen` says whether the problem is one that training leaves out.
    """
    problem = ""
    while not problem or (zlib.crc32(problem.encode()) % HELD_OUT == 0) != unseen:
        start = rng.randint(2, 20)
        operations = _operations(rng, start, rng.randint(min(2, longest - 1), longest))
        told = (f"{at}. {WORDS[sign]} {number}" for at, (sign, number) in enumerate(operations, 1))
        problem = f"Start with {start}. " + ", ".join(told)
    wrong_at = rng.randint(0, len(operations)) if rng.random() < error_rate else -1
    steps, value, mended = [], start, ""
    for place, (sign, number) in enumerate(operations):
        if place == wrong_at:
            mended = _step(place, value, sign, number, _apply(value, sign, number))
            value, sign, number, result = _slip(rng, value, sign, number)
        else:
            result = _apply(value, sign, number)
        steps.append(_step(place, value, sign, number, result))
        value = result
    last = f"Answer: {value}"
    if wrong_at == len(operations):
        mended, last = last, f"Answer: {_off(rng, value)}"
    return Solution(problem, [*steps, last], wrong_at, mended)


def _operations(rng: random.Random, value: int, count: int) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    while len(found) < count:
        sign = rng.choice("++--*")
        number = rng.randint(2, 9)
        after = _apply(value, sign, number)
        if 0 <= after <= 99:
            found.append((sign, number))
            value = after
    return found


def _apply(value: int, sign: str, number: int) -> int:
    return {"+": value + number, "-": value - number, "*": value * number}[sign]


def _step(place: int, value: int, sign: str, number: int, result: int) -> str:
    return f"{place + 1}. {value} {sign} {number} = {result}"


def _slip(rng: random.Random, value: int, sign: str, number: int) -> tuple[int, str, int, int]:
    """The step with an error: its value, sign, number and result."""
    kind = rng.choice(["result", "result", "result", "number", "value", "sign"])
    if kind == "number":
        number = _off(rng, number)
    if kind == "value":
        value = _off(rng, value)
    if kind == "sign":
        sign = rng.choice([other for other in "+-*" if other != sign])
    result = _apply(value, sign, number)
    return value, sign, number, _off(rng, result) if kind == "result" else result


def _off(rng: random.Random, value: int) -> int:
    """Another number, as a slip makes it: one digit off, digits swapped, a carry lost."""
    digits = list(str(abs(value)))
    place = rng.randrange(len(digits))
    slip = rng.randrange(4)
    if slip == 0 and len(digits) > 1:
        other = rng.randrange(len(digits) - 1)
        digits[other], digits[other + 1] = digits[other + 1], digits[other]
        found = int("".join(digits))
    elif slip == 1:
        digits[place] = rng.choice("0123456789")
        found = int("".join(digits))
    else:
        found = abs(value) + rng.choice([1, 10, 1, 10, 2, 100]) * rng.choice([1, -1])
    found = abs(found) if value >= 0 else -abs(found)
    return found if found != value else value + rng.choice([1, 10])
