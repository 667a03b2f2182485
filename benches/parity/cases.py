"""Random cases, as plain lists: what every library is given, and what the Rust tests read.

Rewards, log-probabilities and entropies are multiples of 1/64, so they are exact in single precision
and short in decimal. Rows are ragged: a row has as many entries as its rollout has tokens.
"""

from __future__ import annotations

import math
import random
from typing import Any

Case = dict[str, Any]
Ragged = list[list[float]]

CASES = 200
"""Cases of each kind."""

RAGGED = range(CASES)
"""Advantage cases with groups of one to five, every reward there."""
UNIFORM = range(CASES, 2 * CASES)
"""Advantage cases with groups of one size, two to five, side by side."""
MISSING = range(2 * CASES, 3 * CASES)
"""Advantage cases with missing rewards and missing parts."""


def cases() -> dict[str, list[Case]]:
    """Every case, the same in every run."""
    rng = random.Random(20261123)
    advantages = [_ragged(rng) for _ in RAGGED]
    advantages += [_uniform(rng) for _ in UNIFORM]
    advantages += [_missing(rng) for _ in MISSING]
    return {"advantages": advantages, "losses": [_loss(rng, place) for place in range(CASES)]}


def _ragged(rng: random.Random) -> Case:
    sizes = [rng.choice((1, 1, 2, 2, 3, 3, 4, 5)) for _ in range(rng.choice((2, 2, 2, 3, 3, 4)))]
    group = [number for number, size in enumerate(sizes) for _ in range(size)]
    if rng.random() < 0.5:
        rng.shuffle(group)
    return _advantage(rng, group)


def _uniform(rng: random.Random) -> Case:
    size = rng.choice((2, 2, 3, 3, 4, 5))
    case = _advantage(rng, [number for number in range(rng.choice((2, 2, 3))) for _ in range(size)])
    unused = ("token_rewards", "baselines", "sum_pi_squared")
    return {name: value for name, value in case.items() if name not in unused}


def _missing(rng: random.Random) -> Case:
    case = _ragged(rng) if rng.random() < 0.5 else _uniform(rng)
    kept = {name: case[name] for name in ("group", "parts", "weights", "lengths", "mask", "old", "reference")}
    rate = rng.choice((0.0, 0.15, 0.4))
    for values in kept["parts"].values():
        for place in range(len(values)):
            if rng.random() < rate:
                values[place] = None
    for place in range(len(kept["group"])):
        if rng.random() < rate / 2:
            for values in kept["parts"].values():
                values[place] = None
    first = next(iter(kept["parts"].values()))
    kept["rewards"] = [None if value is None else value for value in first]
    return kept


def _advantage(rng: random.Random, group: list[int]) -> Case:
    """One case: rewards, parts, tokens and what the estimators with a critic or a baseline need."""
    rewards = _rewards(rng, group)
    lengths = [rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 7)) for _ in group]
    mask = _mask(rng, lengths, 2)
    names = "abc"[: rng.randint(1, 3)]
    token_rewards = [[_grid(rng, 0.5) if rng.random() < 0.5 else 0.0 for _ in range(length)] for length in lengths]
    for row, valid, reward in zip(token_rewards, mask, rewards, strict=True):
        row[last_valid(valid)] += reward
    old = [[-_positive(rng, 3.0) for _ in range(length)] for length in lengths]
    return {
        "group": group,
        "rewards": rewards,
        "parts": {name: _rewards(rng, group) for name in names},
        "weights": {name: rng.choice((0.25, 0.5, 1.0, 1.0, 2.0, -0.5)) for name in names},
        "lengths": lengths,
        "mask": mask,
        "token_rewards": token_rewards,
        "values": [[_grid(rng, 2.0) for _ in range(length)] for length in lengths],
        "baselines": [_grid(rng, 1.0) for _ in group],
        "old": old,
        "reference": [[min(value + _grid(rng, 0.5), -1 / 64) for value in row] for row in old],
        "sum_pi_squared": [[_collision(rng, value) for value in row] for row in old],
    }


def last_valid(mask: list[int]) -> int:
    """Where an outcome reward is put: the last token with mask 1, the first token if there is none."""
    return max((place for place, valid in enumerate(mask) if valid), default=0)


def _rewards(rng: random.Random, group: list[int]) -> list[float]:
    binary = rng.random() < 0.35
    rewards = [float(rng.random() < 0.5) if binary else _grid(rng, 3.0) for _ in group]
    for number in set(group):
        if rng.random() < 0.15:
            same = rng.choice(rewards)
            rewards = [same if mine == number else value for mine, value in zip(group, rewards, strict=True)]
    return rewards


def _mask(rng: random.Random, lengths: list[int], least: int) -> list[list[int]]:
    """Rows of ones, rows with holes and empty rows, with at least so many valid tokens in all."""
    style = rng.random()
    mask = []
    for length in lengths:
        chance = 1.0 if style < 0.4 or rng.random() < 0.5 else rng.choice((0.0, 0.5, 0.7))
        mask.append([int(rng.random() < chance) for _ in range(length)])
    places = [(row, place) for row, length in enumerate(lengths) for place in range(length)]
    for row, place in places:
        if sum(map(sum, mask)) < least:
            mask[row][place] = 1
    return mask


def _loss(rng: random.Random, place: int) -> Case:
    """One case of a loss. Every fifteenth has one valid token alone."""
    rows = rng.randint(1, 4)
    lengths = [rng.randint(1, 5) for _ in range(rows)]
    mask = _mask(rng, lengths, 1)
    if place % 15 == 0:
        chosen = rng.randrange(rows)
        mask = [[0] * length for length in lengths]
        mask[chosen][rng.randrange(lengths[chosen])] = 1
    logp, old, reference, rollout, proximal = [], [], [], [], []
    spread = rng.choice((0.1, 0.3, 0.6, 1.0, 2.5))
    for length in lengths:
        pairs = [_pair(rng, spread) for _ in range(length)]
        logp.append([new for new, _ in pairs])
        old.append([before for _, before in pairs])
        reference.append([_near(rng, new, 0.5) for new, _ in pairs])
        rollout.append([_near(rng, before, 0.3) for _, before in pairs])
        proximal.append([_near(rng, before, 0.1) for _, before in pairs])
    return {
        "logp": logp,
        "old": old,
        "reference": reference,
        "rollout": rollout,
        "proximal": proximal,
        "entropy": [[_positive(rng, 4.0) for _ in range(length)] for length in lengths],
        "mask": mask,
        "advantages": [_grid(rng, 2.5) if rng.random() < 0.93 else 0.0 for _ in range(rows)],
        "token_advantages": [[_grid(rng, 2.5) for _ in range(length)] for length in lengths],
    }


def _pair(rng: random.Random, spread: float) -> tuple[float, float]:
    """New and old log-probability of a token; now and then so far apart that the log ratio is clamped."""
    base = -_positive(rng, 3.0)
    far = rng.random()
    gap = rng.choice((-23.0, 21.5, 12.0, -11.0)) if far < 0.01 else _grid(rng, spread)
    return (base, base - gap) if gap > 0 else (base + gap, base)


def _near(rng: random.Random, value: float, spread: float) -> float:
    far = rng.random()
    gap = rng.choice((-22.5, -12.0, -6.0, -2.0)) if far < 0.02 else _grid(rng, spread * rng.choice((0.3, 1.0, 3.0)))
    return min(value + gap, -1 / 64)


def _collision(rng: random.Random, logp: float) -> float:
    """A sum of squared probabilities that a vocabulary can have, one of whose tokens has this log-probability."""
    chosen = math.exp(logp)
    return math.ceil((chosen**2 + rng.uniform(0.0, 0.9) * (1.0 - chosen) ** 2) * 64) / 64


def _grid(rng: random.Random, spread: float) -> float:
    """A normal number on the grid of 1/64."""
    return round(rng.gauss(0.0, spread) * 64) / 64


def _positive(rng: random.Random, top: float) -> float:
    return max(round(rng.uniform(0.0, top) * 64), 1) / 64
