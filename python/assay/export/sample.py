"""What is judged, and how it was encoded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Sample:
    """A prompt and a completion; `second` is the other completion of a pair, `listed` steps are given as such."""

    prompt: str
    steps: tuple[str, ...]
    history: tuple[dict[str, str], ...] = ()
    second: str = ""
    reference: str = ""
    listed: bool = False

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of the prompt."""
        return [*self.history, {"role": "user", "content": self.prompt}]

    def completion(self, joiner: str = "\n\n") -> str:
        """The steps as one text."""
        return joiner.join(self.steps)


@dataclass(frozen=True)
class Encoded:
    """Token ids, and where scores are read; `span` where the graph is read at more positions than those."""

    ids: list[int]
    positions: list[int] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    span: list[int] = field(default_factory=list)

    @property
    def read(self) -> list[int]:
        """Where the graph is read."""
        return self.span or self.positions


SAMPLES = (
    Sample(
        "What is 2 + 3?",
        ("The sum is 5.",),
        second="It is 6, I think.",
        reference="The answer is 5.",
    ),
    Sample(
        "Tom has 12 apples. He gives 4 to Ann and eats 2. How many apples are left?",
        (
            "Tom starts with 12 apples.",
            "He gives 4 to Ann, so he has 12 - 4 = 8 apples.",
            "He eats 2, so he has 8 - 2 = 6 apples.",
            "The answer is \\boxed{6}.",
        ),
        second="Tom has 12 - 4 = 8 apples left.\n\nThe answer is \\boxed{8}.",
        reference="Tom has 6 apples left.",
    ),
    Sample(
        "Wie groß ist 7 × 8? 答案是什么?",
        ("Man rechnet 7 × 8 = 56 – ganz einfach.", "所以答案是 56 ✓ 🎉"),
        second="Ungefähr 54, glaube ich … é ü ß.",
        reference="Das Ergebnis ist 56.",
        listed=True,
    ),
)

TALK = Sample(
    "And times 2?",
    ("That is 5 * 2 = 10.", "So the answer is 10."),
    history=(
        {"role": "user", "content": "What is 2 + 3?"},
        {"role": "assistant", "content": "The sum is 5."},
    ),
    reference="The answer is 10.",
)

SILENT = replace(SAMPLES[0], steps=())
