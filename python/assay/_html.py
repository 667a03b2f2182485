"""Results as HTML for notebooks. Every text is escaped; nothing is loaded and nothing runs."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from assay._core import Verdict
from assay._text import note, outcome_text, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from assay._core import Component, Scored, Step
    from assay._explain import Explanation, Reward

TEXT_BYTES_MAX = 40_000
"""The most of a text that is shown."""
STEPS_MAX = 400
"""The most steps that are drawn."""
COMPONENTS_MAX = 100
"""The most components of a verdict that are drawn."""

# Colours that people with any colour vision tell apart, on light and on dark pages.
GOOD = (38, 139, 210)
BAD = (203, 75, 22)
MARK = "background:rgba(255,200,0,.45);border-bottom:2px solid rgba(180,120,0,.9)"
BOX = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45"
TEXT = (
    "white-space:pre-wrap;overflow-wrap:anywhere;max-height:28em;overflow:auto;margin:.3em 0;"
    "padding:.6em;border:1px solid rgba(128,128,128,.4);border-radius:4px"
)


def of_result(result: Scored | Verdict) -> str:
    """A scored sample, or a verdict, without its text."""
    if isinstance(result, Verdict):
        return _box(_verdict_rows("verdict", "", result))
    rows = "".join(_verdict_rows(name, "", one) for name, one in result.verdicts.items())
    return _box(_head(result) + rows)


def of_explanation(explanation: Explanation) -> str:
    """A scored sample with its text: extracted answers are marked, steps coloured."""
    scored = explanation.scored
    verdicts = list(scored.verdicts.values())
    parts = [_head(scored)]
    if explanation.prompt:
        prompt = _text(_cut(explanation.prompt.encode()), [])
        parts.append(f"<details><summary>prompt</summary>{prompt}</details>")
    parts.append(_text(_cut(explanation.completion.encode()), _spans(verdicts)))
    for reward, verdict in zip(explanation.rewards, verdicts, strict=True):
        parts.append(_strip(explanation, verdict.steps))
        parts.append(_verdict_rows(reward.name, _about(reward), verdict))
    parts.append(f"<div><b>total</b> {_escaped(explanation.combination)}</div>")
    return _box("".join(parts))


def _box(inner: str) -> str:
    return f'<div class="assay" style="{BOX}">{inner}</div>'


def _escaped(text: str) -> str:
    return html.escape(visible(text), quote=True)


def _head(scored: Scored) -> str:
    return f"<div><b>{_escaped(outcome_text(scored))}</b> &nbsp; <code>{_escaped(scored.id)}</code></div>"


def _about(reward: Reward) -> str:
    return f"{reward.verifier} v{reward.version}, weight {reward.weight:g}"


def _verdict_rows(name: str, about: str, verdict: Verdict) -> str:
    known = "; ".join(f"{key}: {note(value)}" for key, value in verdict.evidence.items())
    parts = [_bar(name, about, verdict), _small(known)]
    components = list(verdict.components.items())
    parts += [_bar(part, "", component, 1) for part, component in components[:COMPONENTS_MAX]]
    if len(components) > COMPONENTS_MAX:
        parts.append(_small(f"and {len(components) - COMPONENTS_MAX} more"))
    return "".join(parts)


def _small(text: str) -> str:
    style = "opacity:.75;font-size:12px;padding-left:1em;overflow-wrap:anywhere"
    return f'<div style="{style}">{_escaped(text)}</div>' if text else ""


def _bar(name: str, about: str, judged: Verdict | Component, depth: int = 0) -> str:
    reward = judged.reward
    label = f"<b>{_escaped(name)}</b> {_escaped(about)}" if depth == 0 else _escaped(name)
    drawn = "" if reward is None else _fill(reward)
    return (
        f'<div style="display:flex;gap:.6em;align-items:center;padding-left:{depth}em">'
        f'<span style="min-width:16em">{label}</span>'
        '<span style="flex:0 0 10em;height:.8em;background:rgba(128,128,128,.2);border-radius:2px">'
        f"{drawn}</span><span>{_escaped(outcome_text(judged))}</span></div>"
    )


def _fill(reward: float) -> str:
    """A bar as long as the reward; one outside of [-1, 1] is full."""
    width = min(abs(reward), 1.0) * 100
    red, green, blue = BAD if reward < 0 else GOOD
    style = f"width:{width:.1f}%;height:100%;border-radius:2px;background:rgb({red},{green},{blue})"
    return f'<span style="display:block;{style}"></span>'


def _strip(explanation: Explanation, steps: Sequence[Step]) -> str:
    """The steps side by side, each as wide as its text and as coloured as its reward."""
    if not steps:
        return ""
    low = min(0.0, *(step.reward for step in steps))
    high = max(1.0, *(step.reward for step in steps))
    cells = []
    for at, step in enumerate(steps[:STEPS_MAX]):
        text = explanation.step_text(step.span, step.turn)
        title = _escaped(f"step {at}: {step.reward:.3f}  {note(text)}")
        width = max(step.span[1] - step.span[0], 1)
        style = f"flex:{width} 1 4px;background:{_shade((step.reward - low) / (high - low))}"
        cells.append(f'<span title="{title}" style="{style}"></span>')
    more = f" and {len(steps) - STEPS_MAX} more" if len(steps) > STEPS_MAX else ""
    strip = "display:flex;gap:1px;height:1em;margin:.3em 0;border-radius:2px;overflow:hidden"
    return f'<div style="{strip}">{"".join(cells)}</div>{_small(more)}'


def _shade(share: float) -> str:
    """From the bad colour over grey to the good one."""
    target = GOOD if share >= 0.5 else BAD
    strength = abs(share - 0.5) * 2
    mixed = (round(160 + (end - 160) * strength) for end in target)
    return f"rgb({','.join(map(str, mixed))})"


def _spans(verdicts: Iterable[Verdict]) -> list[tuple[int, int]]:
    """The bytes that verifiers took for answers."""
    found = (verdict.evidence.get("span") for verdict in verdicts)
    spans = (span for span in found if isinstance(span, list) and len(span) == 2)
    return [(int(start), int(end)) for start, end in spans]


def _text(text: bytes, spans: list[tuple[int, int]]) -> str:
    """A text in which spans are marked; they may overlap."""
    within = [(start, end) for start, end in spans if 0 <= start < end <= len(text)]
    ends = sorted({0, len(text), *(end for span in within for end in span)})
    parts = []
    for start, end in zip(ends, ends[1:], strict=False):
        piece = _escaped(text[start:end].decode(errors="replace"))
        marked = any(span[0] <= start and end <= span[1] for span in within)
        parts.append(f'<mark style="{MARK}">{piece}</mark>' if marked else piece)
    return f'<div style="{TEXT}">{"".join(parts)}</div>'


def _cut(text: bytes) -> bytes:
    """The text up to a limit."""
    if len(text) <= TEXT_BYTES_MAX:
        return text
    return text[:TEXT_BYTES_MAX] + f"… ({len(text) - TEXT_BYTES_MAX} bytes more)".encode()
