"""Explanations: as text, and as HTML that hostile texts cannot break."""

from __future__ import annotations

import html.parser
import json

import assay
import pytest
from conftest import MATH, config

HOSTILE = [
    "</div><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!-- --><style>*{display:none}</style>",
    "\x1b[31mred\x07",
    "\u202egnp.exe\u2066",
    "&lt;b&gt; &amp;",
    "\x00\ufeff\u200b",
    "'; background:url(//x)",
]


class Tags(html.parser.HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> Tags:
    """What a page is made of."""
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    @assay.verifier(id="own")
    def own(sample: assay.Sample) -> assay.Verdict:
        part = {"outcome": "scored", "reward": 0.5, "evidence": {text: text}}
        verdict = {
            "outcome": "scored",
            "reward": -1.5,
            "evidence": {"span": [0, 3], "note": text},
            "components": {text: part, "lost": {"outcome": "failed", "fault": "Upstream", "why": text}},
            "steps": [{"span": [0, len(text.encode())], "reward": 0.2}],
        }
        return assay.Verdict.from_json(json.dumps(verdict))

    reward = {"name": text.strip("\x00\x1b\x07") or "n", "verifier": "own"}
    engine = assay.Engine(config(reward), verifiers=[own])
    explanation = engine.explain({"id": text, "completion": text, "prompt": text})
    assert explanation.scored.reward == -1.5, explanation.scored
    pages = [explanation._repr_html_(), explanation.scored._repr_html_()]
    pages += [verdict._repr_html_() for verdict in explanation.scored.verdicts.values()]
    for page in pages:
        tags = parsed(page)
        assert tags.tags <= {"div", "span", "b", "code", "mark", "details", "summary"}
        assert tags.attributes <= {"class", "style", "title"}
    shown = str(explanation)
    for page in [*pages, shown]:
        assert not set(page) & set("\x00\x07\x1b\u202e\u2066\ufeff\u200b")


def test_the_answer_is_marked_and_the_numbers_are_told() -> None:
    explanation = assay.Engine(MATH).explain({"completion": "é, so it is \\boxed{4}!", "reference": "4"})
    assert "<mark" in explanation._repr_html_()
    marked = explanation._repr_html_().split("<mark")[1].split("</mark>")[0].split(">")[1]
    assert marked == "4"
    told = str(explanation)
    assert "reward  1.0" in told
    assert "correct  math v" in told
    assert "reason: proved-equal" in told
    assert "total: 1 x 1 (correct)" in told


def test_what_was_not_judged_says_why() -> None:
    explanation = assay.Engine(MATH).explain({"completion": "4"})
    assert "abstained: the sample has no reference" in str(explanation)
    assert "abstained: the sample has no reference" in explanation._repr_html_()


def test_steps_are_drawn_each_with_its_text() -> None:
    @assay.verifier(id="own")
    def own(sample: assay.Sample) -> assay.Verdict:
        steps = [{"span": [0, 5], "reward": 0.0}, {"span": [5, 9], "reward": 1.0}]
        return assay.Verdict.from_json(json.dumps({"outcome": "scored", "reward": 0.5, "steps": steps}))

    engine = assay.Engine(config({"name": "s", "verifier": "own"}), verifiers=[own])
    explanation = engine.explain({"completion": "firstnext"})
    page = explanation._repr_html_()
    assert "step 0: 0.000  first" in page
    assert "step 1: 1.000  next" in page
    assert page.index("rgb(203,75,22)") < page.index("rgb(38,139,210)"), "the bad step, then the good one"
    assert "steps[1]: reward 1.000  next" in str(explanation)


def test_long_texts_are_cut() -> None:
    explanation = assay.Engine(MATH).explain({"completion": "é" * 100_000, "reference": "4"})
    assert len(explanation._repr_html_()) < 100_000
    assert "bytes more" in explanation._repr_html_()
    assert len(str(explanation)) < 5000
