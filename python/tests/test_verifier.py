"""Python functions as verifiers."""

from __future__ import annotations

import threading
from typing import Any

import assay
import pytest
from conftest import config


def run(function: assay.Verifier, settings: dict[str, Any] | None = None, **sample: Any) -> assay.Verdict:
    """The verdict of a function on one sample."""
    reward = {"name": "own", "verifier": function.id, "config": settings or {}}
    engine = assay.Engine(config(reward), verifiers=[function])
    [scored] = engine.score([{"completion": "a b c", **sample}])
    return scored.verdicts["own"]


def test_the_sample_and_settings_arrive() -> None:
    threads: list[threading.Thread] = []

    @assay.verifier(id="words", version=3)
    def count(sample: assay.Sample, most: int, kind: str = "k") -> bool:
        assert (sample.prompt, sample.reference, sample.meta) == ("p", [1], {"kind": "x"})
        threads.append(threading.current_thread())
        return len(sample.completion.split()) <= most and kind == "k"

    verdict = run(count, {"most": 3}, prompt="p", reference=[1], kind="x")
    assert verdict.reward == 1.0, verdict
    assert count(*_sample_and(2)) is False, "it is still the function that it was"
    assert threads[0] is not threads[1] is threading.main_thread()


def _sample_and(most: int) -> tuple[Any, int]:
    class Sample:
        prompt, reference, meta, completion = "p", [1], {"kind": "x"}, "a b c"

    return Sample(), most


@pytest.mark.parametrize(
    ("returned", "outcome", "why"),
    [
        (0.25, "scored", None),
        (True, "scored", None),
        (None, "abstained", "the function returned None"),
        (assay.Verdict.abstained("no code"), "abstained", "no code"),
        (assay.Verdict.failed("Upstream", "gone"), "failed", "gone"),
        (float("nan"), "failed", "ValueError: reward: NaN is not a reward"),
        ("1", "failed", "TypeError: a verifier returns a number, None or a Verdict, not str"),
        ([1.0], "failed", "TypeError"),
    ],
)
def test_what_a_function_returns(returned: Any, outcome: str, why: str | None) -> None:
    @assay.verifier
    def own(sample: assay.Sample) -> Any:
        return returned

    verdict = run(own)
    assert verdict.outcome == outcome
    assert (why or "") in (verdict.why or "")


def test_an_exception_is_a_fault_with_its_last_line() -> None:
    @assay.verifier
    def own(sample: assay.Sample) -> float:
        raise KeyError("answer")

    verdict = run(own)
    assert (verdict.outcome, verdict.fault) == ("failed", "Internal")
    assert verdict.why == "own: KeyError: 'answer'"


def test_a_wrong_setting_is_an_error_that_names_it() -> None:
    @assay.verifier
    def own(sample: assay.Sample, least: int = 1) -> float:
        return 1.0

    with pytest.raises(assay.ConfigError, match="takes no setting 'most'; it takes: least") as caught:
        run(own, {"most": 3})
    assert (caught.value.code, caught.value.fields["key"]) == ("unknown_key", "reward[0].config.most")

    @assay.verifier
    def any_of(sample: assay.Sample, **settings: int) -> float:
        return settings["most"]

    assert run(any_of, {"most": 3}).reward == 3.0


def test_a_function_that_is_no_verifier_is_told() -> None:
    def plain(sample: assay.Sample) -> float:
        return 1.0

    with pytest.raises(TypeError, match="plain.* put @assay.verifier above it"):
        assay.Engine(config({"name": "plain", "verifier": "plain"}), verifiers=[plain])  # type: ignore[list-item]


def test_earlier_verdicts_are_seen() -> None:
    @assay.verifier
    def twice(sample: assay.Sample, verdicts: dict[str, assay.Verdict]) -> float:
        reward = verdicts["first"].reward
        assert reward is not None
        return 2 * reward

    rewards = [{"name": "first", "verifier": "exact"}, {"name": "own", "verifier": "twice"}]
    engine = assay.Engine(config(*rewards), verifiers=[twice])
    assert engine.score(completions=["a"], references=["a"])[0].reward == 3.0


def test_async_functions_wait_side_by_side() -> None:
    import asyncio

    inside, most = 0, 0

    @assay.verifier(in_flight_max=4)
    async def own(sample: assay.Sample) -> float:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        return 1.0

    engine = assay.Engine(config({"name": "own", "verifier": "own"}), verifiers=[own])
    scored = engine.score(completions=["a"] * 20)
    assert [one.reward for one in scored] == [1.0] * 20
    assert 1 < most <= 4


def test_a_function_keeps_its_name_and_needs_one() -> None:
    @assay.verifier
    def documented(sample: assay.Sample) -> float:
        """What it does."""
        return 1.0

    assert (documented.__name__, documented.__doc__, documented.id) == ("documented", "What it does.", "documented")
    with pytest.raises(ValueError, match="pass id="):
        assay.verifier(lambda sample: 1.0)
