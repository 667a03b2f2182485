"""The sentences that the tiny tokenizers are trained on."""

from __future__ import annotations

NAMES = ("Tom", "Ann", "Maria", "Jonas", "Li Wei", "Zoë", "Amir", "Olga")
THINGS = ("apples", "books", "marbles", "stamps", "eggs", "coins", "tickets", "pages")
VERBS = ("buys", "sells", "finds", "loses", "eats", "reads", "gives away", "wins")

OTHERS = (
    "The answer is \\boxed{42}.",
    "Please reason step by step, and put your final answer within \\boxed{}.",
    "So the sum is 5, and the product is 6.",
    "Is this answer correct? Yes or No.",
    "Yes, this is right. No, this is wrong.",
    "Good work. The reasoning is sound. [RESULT] 4",
    "The feedback: clear and short. [RESULT] 2",
    "I think it is 6, but I am not sure.",
    "Wie groß ist 7 × 8? Das Ergebnis ist 56.",
    "Man rechnet 7 × 8 = 56 – ganz einfach.",
    "答案是 56。所以答案是 56。",
    "How many are left? What is 2 + 3? And times 2?",
    "x + y = 10 and x - y = 2, so x = 6 and y = 4.",
    "def add(a, b):\n    return a + b",
    "ки ки ки ки",
    "+ - + - + -",
)


def sentences() -> list[str]:
    """A few hundred sentences, always the same."""
    found = list(OTHERS) * 3 + ["Yes", "No"] * 20
    for number, name in enumerate(NAMES):
        for place, thing in enumerate(THINGS):
            count, fewer = 3 * number + 2 * place + 5, place + 2
            verb = VERBS[(number + place) % len(VERBS)]
            found += [
                f"{name} has {count} {thing} and {verb} {fewer} of them.",
                f"How many {thing} are left? {name} has {count} - {fewer} = {count - fewer} {thing}.",
                f"Step {place + 1}: {name} {verb} {fewer} {thing}, so there are {count - fewer} {thing}. ки",
                f"The answer is {count - fewer}.",
            ]
    return found
