"""One sample, from its text to its reward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from assay._text import evidence_text, note, outcome_text, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay._core import Scored, Verdict
    from assay._engine import Options

STEPS_MAX = 64
"""The most steps that are listed."""


class Reward(NamedTuple):
    """A reward of the configuration.

    >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
    >>> engine.explain({"completion": "a", "reference": "a"}).rewards[0].verifier
    'exact'
    """

    name: str
    verifier: str
    version: int
    weight: float


class Explanation:
    """How a sample came to its reward. A picture in a notebook, plain text elsewhere.

    >>> engine = assay.Engine({"version": 1, "reward": [{"name": "right", "verifier": "exact"}]})
    >>> explanation = engine.explain({"id": "q1", "completion": "a", "reference": "a"})
    >>> print(explanation)  # doctest: +ELLIPSIS
    id      q1
    reward  1.0
    ...
    """

    def __init__(
        self,
        scored: Scored,
        prompt: str,
        completion: str,
        messages: list[tuple[str, str]] | None,
        rewards: list[tuple[str, str, int, float]],
        combination: str,
    ) -> None:
        self.scored = scored
        """What came of the sample."""
        self.prompt = prompt
        """What was asked."""
        self.completion = completion
        """The text that was judged; spans are bytes of its UTF-8 form."""
        self.messages = messages
        """Role and text of each message, where the completion is a conversation."""
        self.rewards = [Reward(*reward) for reward in rewards]
        """The rewards of the configuration, in the order of the verdicts."""
        self.combination = combination
        """How the rewards became one."""

    def step_text(self, span: tuple[int, int], turn: int | None) -> str:
        """The text of a step."""
        text = self.completion
        if turn is not None and self.messages is not None and turn < len(self.messages):
            text = self.messages[turn][1]
        return text.encode()[span[0] : span[1]].decode(errors="replace")

    def __str__(self) -> str:
        lines = [
            f"id      {visible(self.scored.id)}",
            f"reward  {outcome_text(self.scored)}",
            f"completion\n  {note(self.completion)}",
        ]
        for reward, verdict in zip(self.rewards, self.scored.verdicts.values(), strict=True):
            lines.append("")
            lines.append(
                f"{visible(reward.name)}  {reward.verifier} v{reward.version}, weight {reward.weight:g}"
            )
            lines += [f"  {name}: {value}" for name, value in self._notes(verdict)]
        lines += ["", f"total: {visible(self.combination)}"]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from assay import _html

        return _html.of_explanation(self)

    def _notes(self, verdict: Verdict) -> list[tuple[str, str]]:
        notes = [("outcome", outcome_text(verdict))]
        notes += [(visible(key), note(value)) for key, value in verdict.evidence.items()]
        for name, component in verdict.components.items():
            notes.append((visible(name), f"{outcome_text(component)}{evidence_text(component)}"))
        for at, step in enumerate(verdict.steps[:STEPS_MAX]):
            text = note(self.step_text(step.span, step.turn))
            notes.append((f"steps[{at}]", f"reward {step.reward:.3f}  {text}"))
        if len(verdict.steps) > STEPS_MAX:
            notes.append(("steps", f"and {len(verdict.steps) - STEPS_MAX} more"))
        if verdict.usage.calls or verdict.usage.tokens:
            notes.append(("usage", f"{verdict.usage.tokens} tokens, {verdict.usage.calls} calls"))
        return notes


def of_sample(core: Any, sample: Mapping[str, Any], options: Options) -> Explanation:
    """The explanation of a sample that is scored for it."""
    return Explanation(*core.explain(sample, options))
