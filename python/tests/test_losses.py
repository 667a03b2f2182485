"""Policy losses over padded arrays, ragged lists and tensors."""

from __future__ import annotations

import gzip
import json
import math
from typing import Any

import assay
import numpy as np
import pytest
from conftest import FIXTURES, Tensor

LOGP = [[-0.5, -1.0, -0.25], [-0.75]]
OLD = [[-0.6, -0.9, -0.25], [-0.5]]
MASK = [[True, True, False], [True]]
ADVANTAGES = [1.0, -0.5]


def padded(rows: list[list[Any]], width: int = 4, fill: float = math.nan) -> Any:
    """Rows in an array, with what is never read behind them."""
    array = np.full((len(rows), width), fill)
    for at, row in enumerate(rows):
        array[at, : len(row)] = row
    return array


def test_a_loss_is_the_one_worked_by_hand() -> None:
    clip: dict[str, Any] = {"kind": "ppo", "eps_low": 0.2, "eps_high": 0.2}
    loss = assay.policy_loss([[math.log(2.0)], [0.0]], [1.0, 1.0], old=[[0.0], [0.0]], **clip)
    # The ratios are 2, which is clipped to 1.2 and has no gradient, and 1.
    assert loss.value == pytest.approx(-(1.2 + 1.0) / 2)
    assert loss.gradient == [[0.0], [-0.5]]
    assert loss.metrics["tokens"] == 2.0 and loss.metrics["loss"] == loss.value
    assert loss.entropy_gradient is None and loss.entropy_state is None


def test_padded_and_ragged_agree_to_the_bit() -> None:
    kl: dict[str, Any] = {"kl": {"coefficient": 0.1}, "kind": "dapo"}
    ragged = assay.policy_loss(LOGP, ADVANTAGES, old=OLD, reference=OLD, mask=MASK, **kl)
    assert ragged.gradient[0][2] == 0.0
    mask = padded(MASK, fill=0.0)
    for kind in (np.asarray, Tensor):
        arrays: dict[str, Any] = {name: kind(padded(OLD)) for name in ("old", "reference")}
        for advantages in (ADVANTAGES, np.array(ADVANTAGES), kind(np.array(ADVANTAGES))):
            found = assay.policy_loss(kind(padded(LOGP)), advantages, mask=kind(mask), **arrays, **kl)
            gradient = found.gradient.numpy if kind is Tensor else found.gradient
            assert isinstance(gradient, np.ndarray) and gradient.shape == (2, 4)
            assert found.value == ragged.value and found.metrics == ragged.metrics
            assert [gradient[0, :3].tolist(), gradient[1, :1].tolist()] == ragged.gradient
            assert not gradient[mask == 0].any()
    rows = assay.policy_loss([np.array(row) for row in LOGP], ADVANTAGES, old=OLD, reference=OLD, mask=MASK, **kl)
    assert [row.tolist() for row in rows.gradient] == ragged.gradient


def test_advantages_may_be_those_of_tokens_or_of_a_call() -> None:
    tokens = [[1.0] * 3, [-0.5]]
    by_rollout = assay.policy_loss(LOGP, ADVANTAGES, kind="ppo")
    assert assay.policy_loss(LOGP, tokens, kind="ppo") == by_rollout
    assert assay.policy_loss(LOGP, [np.array(row) for row in tokens], kind="ppo") == by_rollout
    mask = padded(MASK, fill=0.0)
    both = [assay.policy_loss(padded(LOGP), given, mask=mask, kind="ppo") for given in (ADVANTAGES, padded(tokens))]
    assert both[0].value == both[1].value
    found = assay.advantages([1.0, None], [0, 1], kind="dr_grpo", singleton="raw")
    assert assay.policy_loss(LOGP, found, kind="ppo") == assay.policy_loss(LOGP, found.values, kind="ppo")


@pytest.mark.parametrize(
    ("record", "settings"),
    [
        ("trl dapo", {"kind": "dapo"}),
        ("trl grpo", {"kind": "grpo"}),
        ("trl cispo", {"kind": "cispo", "eps_high": 5.0}),
    ],
)
def test_losses_are_those_of_the_libraries(record: str, settings: dict[str, Any]) -> None:
    def read(name: str) -> Any:
        return json.loads(gzip.decompress((FIXTURES / "parity" / f"{name}.json.gz").read_bytes()))

    [theirs] = [one for one in read("trl")["records"] if one["name"] == record]
    own: dict[str, Any] = {"eps_low": 0.2, "eps_high": 0.28} if "clip_high" in theirs["ours"] else {}
    cases, compared = read("cases")["losses"], 0
    for case, expected in zip(cases, theirs["outputs"], strict=False):
        if expected is None:
            continue
        width = max(len(row) for row in case["logp"])
        columns: dict[str, Any] = {name: padded(case[name], width) for name in ("logp", "old")}
        mask = padded(case["mask"], width, 0.0)
        found = assay.policy_loss(
            advantages=np.array(case["advantages"]), mask=mask, **columns, preset="trl-1.16", **settings, **own
        )
        assert math.isclose(found.value, expected["loss"], rel_tol=1e-6, abs_tol=1e-9), record
        assert np.allclose(found.gradient, padded(expected["grad"], width, 0.0), rtol=1e-6, atol=1e-9), record
        compared += 1
    assert compared > 150


def test_a_surrogate_with_the_gradient_makes_the_step_of_the_loss() -> None:
    options: dict[str, Any] = {"old": OLD, "kind": "sapo", "preset": "trl-1.16"}
    loss = assay.policy_loss(LOGP, ADVANTAGES, **options)
    for row, token in [(0, 0), (0, 2), (1, 0)]:
        ends = []
        for change in (1e-6, -1e-6):
            moved = [list(one) for one in LOGP]
            moved[row][token] += change
            ends.append(assay.policy_loss(moved, ADVANTAGES, **options).value)
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(loss.gradient[row][token], abs=1e-8)


def test_entropy_has_a_gradient_and_a_state() -> None:
    entropies = [[1.0, 2.0, 0.5], [0.25]]
    entropy = {"coefficient": 0.1, "adaptive": {"target": 3.0}}
    first = assay.policy_loss(LOGP, ADVANTAGES, entropies=entropies, mask=MASK, kind="ppo", entropy=entropy)
    assert first.entropy_state is not None and first.entropy_state["coefficient"] >= 0.1
    again = assay.policy_loss(
        LOGP, ADVANTAGES, entropies=entropies, mask=MASK, kind="ppo", entropy=entropy, entropy_state=first.entropy_state
    )
    assert again.metrics["entropy_loss"] > 0.0
    assert [len(row) for row in again.entropy_gradient] == [3, 1]
    assert again.entropy_gradient[0][2] == 0.0 > again.entropy_gradient[0][0]


def test_the_batch_may_be_a_part_of_a_step() -> None:
    whole = assay.policy_loss(LOGP, ADVANTAGES, kind="ppo").value
    part = assay.policy_loss(LOGP, ADVANTAGES, kind="ppo", scale={"accumulation_steps": 4}).value
    assert part == pytest.approx(whole / 4)


def test_the_divergence_may_be_a_part_of_the_reward() -> None:
    kl = {"coefficient": 0.5, "estimator": "k1", "place": "reward"}
    rewards = assay.kl_rewards(padded(LOGP), padded(OLD), mask=padded(MASK, fill=0.0), kind="ppo", kl=kl)
    assert rewards.shape == (2, 4)
    assert rewards[0].tolist() == pytest.approx([-0.05, 0.05, 0.0, 0.0])
    assert assay.kl_rewards(LOGP, OLD, kind="ppo", kl=kl)[1] == pytest.approx([0.125])


def test_preferences_have_a_loss_too() -> None:
    logp, reference = padded([[-1.0, -1.0], [-2.0]]), padded([[-1.5, -1.0], [-1.0]])
    mask = padded([[True, True], [True]], fill=0.0)
    pairs = assay.select([1.0, 0.0], 2, kind="pairs").pairs
    loss = assay.preference_loss(logp, reference, pairs, kind="sigmoid", beta=0.5, mask=mask)
    # d is 0.5 and -1, so that the margin is 0.75.
    slope = -0.5 / (1.0 + math.exp(0.75))
    assert loss.value == pytest.approx(math.log1p(math.exp(-0.75)))
    assert loss.gradient.tolist() == [pytest.approx([slope, slope, 0, 0]), pytest.approx([-slope, 0, 0, 0])]
    assert loss.metrics["accuracy"] == 1.0
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (assay.ConfigError, '"dpo" is not known', {"kind": "dpo"}),
        (assay.ConfigError, "`beta` is 0", {"beta": 0.0}),
        (ValueError, "^pairs: rows 0 and 2", {"pairs": [(0, 2)]}),
        (ValueError, "^pairs: expected", {"pairs": [0, 1]}),
    ]
    for error, why, given in wrong:
        options: dict[str, Any] = {"pairs": pairs, "kind": "sigmoid", "beta": 1.0, "mask": mask}
        with pytest.raises(error, match=why):
            assay.preference_loss(logp, reference, **{**options, **given})


@pytest.mark.parametrize(
    ("error", "why", "given"),
    [
        (assay.ConfigError, "no loss is called", {"kind": "none_such"}),
        (assay.ConfigError, "preset", {"preset": "trl-0"}),
        (assay.ConfigError, "^aggregation.kind: ", {"aggregation": "none_such"}),
        (assay.ConfigError, "eps_lo", {"eps_lo": 0.1}),
        (ValueError, "^old: ", {"old": [[0.0]]}),
        (ValueError, "^mask: ", {"mask": [[1], [1]]}),
        (ValueError, "^advantages: 1 values", {"advantages": [1.0]}),
        (ValueError, "^advantages: a value of type int, expected a list", {"advantages": 1}),
        (ValueError, "^reference: none", {"kl": {"coefficient": 0.1}}),
        (ValueError, "^logp: row 1: a value of type str", {"logp": [[0.0], "a"]}),
        (ValueError, "^logp: an array of 1 dimensions, expected 2", {"logp": np.zeros(2)}),
        (ValueError, "^logp: ", {"logp": [[0.0, math.nan, 0.0], [0.0]]}),
        (ValueError, "^scale: ", {"scale": {"token": 1}}),
        (ValueError, "^seed: expected", {"seed": "a"}),
        (ValueError, "^completion_max: expected", {"completion_max": "a"}),
    ],
)
def test_what_is_wrong_with_a_loss_is_named(error: type[Exception], why: str, given: dict[str, Any]) -> None:
    with pytest.raises(error, match=why):
        assay.policy_loss(**{"logp": LOGP, "advantages": ADVANTAGES, "kind": "ppo", **given})
