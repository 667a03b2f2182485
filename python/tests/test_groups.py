"""Advantages and selection over lists, arrays and tensors."""

from __future__ import annotations

import array
import gzip
import json
import math
import subprocess
import sys
from typing import Any

import assay
import numpy as np
import pytest
from conftest import FIXTURES, Tensor

REWARDS = [1.0, 0.0, 0.5, 0.25, 1.0, 1.0, 0.0, 2.0]
GROUPS = [3, 3, 3, 3, 7, 7, 7, 7]


def vectors(name: str) -> Any:
    """What a library gives on random cases; see benches/parity."""
    return json.loads(gzip.decompress((FIXTURES / "parity" / f"{name}.json.gz").read_bytes()))


def close(ours: Any, theirs: Any) -> bool:
    """Equal to 1e-6 relative."""
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-9))


def rewards_of(case: dict[str, Any]) -> list[float | None]:
    """The weighted sum of those parts of each rollout that are there."""
    weights = case["weights"].values()
    rows = zip(*case["parts"].values(), strict=True)
    parts = [[w * part for w, part in zip(weights, row, strict=True) if part is not None] for row in rows]
    return [sum(row) if row else None for row in parts]


def test_advantages_are_those_worked_by_hand() -> None:
    found = assay.advantages([1.0, 0.0, 0.0, 1.0], 4, kind="grpo", eps=0.0)
    unit = math.sqrt(3) / 2
    assert found.values == pytest.approx([unit, -unit, -unit, unit])
    assert assay.advantages([3.0, 0.0, 0.0], 3, kind="rloo").values == [3.0, -1.5, -1.5]
    assert found.report == {"groups": 1, "of_one": 0, "without_variance": 0, "without_reward": 0, "missing": 0}
    assert found.state == {}


@pytest.mark.parametrize(
    ("library", "record", "preset"),
    [
        ("trl", "trl grpo group", {"preset": "trl-1.16"}),
        ("verl", "verl grpo", {"preset": "verl-0.9"}),
        ("verl", "verl rloo", {"kind": "rloo", "preset": "verl-0.9"}),
        ("openrlhf", "openrlhf dr_grpo", {"kind": "dr_grpo", "preset": "openrlhf-0.11"}),
    ],
)
def test_advantages_are_those_of_the_libraries(library: str, record: str, preset: dict[str, Any]) -> None:
    [theirs] = [one for one in vectors(library)["records"] if one["name"] == record]
    cases = vectors("cases")["advantages"]
    compared = 0
    for at, expected in zip(theirs.get("cases") or range(len(cases)), theirs["outputs"], strict=False):
        rewards = rewards_of(cases[at]) if library == "trl" else cases[at]["rewards"]
        if expected is None or None in expected:
            continue
        found = assay.advantages(np.array(rewards, dtype=float), np.array(cases[at]["group"]), **preset)
        listed = assay.advantages(rewards, [f"g{key}" for key in cases[at]["group"]], **preset)
        assert close(found.values, expected), (record, at)
        assert found.values.tolist() == listed.values
        compared += 1
    assert compared > 30


def test_lists_arrays_and_tensors_agree_to_the_bit() -> None:
    listed = assay.advantages(REWARDS, 4, kind="grpo")
    exact = np.array(REWARDS)
    for rewards, groups in [
        (exact, 4),
        (exact, np.array(GROUPS)),
        (exact, np.array(GROUPS, dtype=np.uint8)),
        (exact, np.array(["a"] * 4 + ["b"] * 4)),
        (exact, ["a"] * 4 + ["b"] * 4),
        (exact, np.int64(4)),
        (exact.astype(np.float32), 4),
        (np.repeat(exact, 2)[::2], 4),
        (exact.astype(">f8"), 4),
        (np.array(REWARDS, dtype=object), 4),
        (np.frombuffer(b"\0" * 4 + exact.tobytes(), dtype=np.float64, offset=4), 4),
    ]:
        found = assay.advantages(rewards, groups, kind="grpo")
        assert isinstance(found.values, np.ndarray) and found.values.dtype == np.float64
        assert found.values.tolist() == listed.values
        assert found.report == listed.report
    tensor = assay.advantages(Tensor(exact), Tensor(np.array(GROUPS)), kind="grpo").values
    assert isinstance(tensor, Tensor) and tensor.numpy.tolist() == listed.values
    for plain in (tuple(REWARDS), array.array("d", REWARDS), iter(REWARDS), [np.float64(one) for one in REWARDS]):
        assert assay.advantages(plain, iter(GROUPS), kind="grpo").values == listed.values


def test_what_came_stays_as_it_was() -> None:
    rewards = np.array(REWARDS)
    rewards.flags.writeable = False
    first = assay.advantages(rewards, 4, kind="grpo").values
    first[:] = 0
    assert rewards.tolist() == REWARDS
    assert assay.advantages(rewards, 4, kind="grpo").values.tolist() != first.tolist()


@pytest.mark.parametrize("kind", ["grpo", "rloo", "dr_grpo", "opo", "maxrl"])
def test_missing_rewards_take_part_in_nothing(kind: str) -> None:
    options: dict[str, Any] = {"kind": kind, "lengths": [3] * 6}
    found = assay.advantages([1.0, None, 0.0, None, math.nan, 1.0], 3, **options)
    pair = assay.advantages([1.0, 0.0], 2, kind=kind, lengths=[3, 3]).values
    assert [found.values[0], found.values[2]] == pair
    assert found.values[1] == found.values[3] == found.values[4] == 0.0
    assert (found.report["missing"], found.report["of_one"]) == (3, 1)
    as_array = np.array([1.0, np.nan, 0.0, np.nan, np.nan, 1.0])
    assert assay.advantages(as_array, 3, **options).values.tolist() == found.values


def test_large_arrays_are_those_of_their_parts() -> None:
    rewards = np.random.default_rng(7).normal(size=160_000)
    rewards[::97] = np.nan
    whole = assay.advantages(rewards, 16, kind="grpo").values
    parts = [assay.advantages(part, 16, kind="grpo").values for part in np.split(rewards, 100)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert np.count_nonzero(whole[::97]) == 0
    assert assay.advantages(np.zeros(0), 16, kind="grpo").values.shape == (0,)


def test_advantages_of_tokens_have_the_shape_of_the_mask() -> None:
    options: dict[str, Any] = {"kind": "reinforce_plus_plus", "gamma": 0.9}
    rows = [[0.0, 0.5, 0.0], [1.0]]
    mask = np.array([[1, 1, 1, 0], [1, 0, 0, 0]])
    padded_rewards = np.full((2, 4), np.nan)
    padded_rewards[0, :3], padded_rewards[1, 0] = rows[0], 1.0
    ragged = assay.advantages([1.0, 0.0], 2, token_rewards=rows, lengths=[3, 1], **options).values
    assert [len(row) for row in ragged] == [3, 1]
    for rewards in (np.array([1.0, 0.0]), [1.0, 0.0]):
        padded = assay.advantages(rewards, 2, token_rewards=padded_rewards, mask=mask, **options).values
        assert isinstance(padded, np.ndarray) and padded.shape == (2, 4)
        assert [padded[0, :3].tolist(), padded[1, :1].tolist()] == ragged
        assert not padded[mask == 0].any()
    arrays = [np.array(row) for row in rows]
    found = assay.advantages(np.array([1.0, 0.0]), 2, token_rewards=arrays, **options).values
    assert isinstance(found, list) and [row.tolist() for row in found] == ragged
    columns: dict[str, Any] = {"token_rewards": Tensor(padded_rewards), "mask": Tensor(mask)}
    for one in (Tensor(np.array([1.0, 0.0])), [1.0, 0.0]):
        tensor = assay.advantages(one, 2, **columns, **options).values
        assert tensor.numpy.dtype == np.float64 and tensor.numpy.tolist() == padded.tolist()


def test_parts_are_normalised_one_by_one() -> None:
    parts = {"right": [1.0, 0.0], "brief": np.array([0.0, 1.0])}
    both = assay.advantages([1.0, 1.0], 2, kind="gdpo", parts=parts).values
    right = assay.advantages([1.0, 1.0], 2, kind="gdpo", parts=parts, part_weights={"brief": 0.5}).values
    assert both == [0.0, 0.0]
    assert right[0] == -right[1] > 0.5


def test_steps_are_pairs_or_those_of_a_verdict() -> None:
    line = '{"outcome": "scored", "reward": 1.0, "steps": [{"span": [0, 4], "tokens": [0, 2], "reward": 0.5}]}'
    verdict = assay.Verdict.from_json(line)
    given: list[Any] = [[[(2, 0.5)]] * 2, [[{"end": 2, "reward": 0.5}]] * 2, [verdict.steps] * 2]
    found = [
        assay.advantages([1.0, 0.0], 2, kind="process", steps=steps, lengths=[2, 2]).values for steps in given
    ]
    assert found[0] == found[1] == found[2]
    with pytest.raises(ValueError, match="steps: row 1: expected"):
        assay.advantages([1.0, 0.0], 2, kind="process", steps=[[(2, 0.5)], [3]], lengths=[2, 2])


def test_a_state_goes_from_call_to_call() -> None:
    first = assay.advantages([1.0, 0.0], 2, kind="spiral", roles=["a", "b"])
    again = assay.advantages([1.0, 0.0], 2, kind="spiral", roles=["a", "b"], state=first.state)
    assert first.state and first.state != again.state
    assert first.values != again.values


WRONG: list[tuple[type[Exception], str, dict[str, Any]]] = [
    (assay.ConfigError, "no advantage is called", {"kind": "none_such"}),
    (assay.ConfigError, "neither `kind` nor `preset`", {"kind": None}),
    (assay.ConfigError, "no preset is called", {"preset": "trl-0"}),
    (assay.ConfigError, "epsilon", {"epsilon": 1.0}),
    (assay.ConfigError, "`eps` is -1", {"eps": -1.0}),
    (assay.ConfigError, "eps: a value of type object", {"eps": object()}),
    (ValueError, "groups: groups of 3 over 2 rewards", {"groups": 3}),
    (ValueError, "groups: groups of -1", {"groups": -1}),
    (ValueError, "groups: 1 keys for 2 rewards", {"groups": [1]}),
    (ValueError, "groups: numbers and texts", {"groups": [1, "a"]}),
    (ValueError, "groups: a key of type float in place 0", {"groups": [0.5, 1.0]}),
    (ValueError, "groups: a key of type NoneType in place 1", {"groups": ["a", None]}),
    (ValueError, "groups: .* of type float, expected a list", {"groups": 2.0}),
    (ValueError, "rewards: an infinite number in row 1", {"rewards": [1.0, math.inf]}),
    (ValueError, "rewards: a value of type str in place 0", {"rewards": ["1", 2.0]}),
    (ValueError, "rewards: a value of type str, expected a list", {"rewards": "12"}),
    (ValueError, "rewards: an array of 2 dimensions, expected 1", {"rewards": np.zeros((2, 1))}),
    (ValueError, "rewards: an array of <U1", {"rewards": np.array(["1", "2"])}),
    (ValueError, "lengths: 1 values", {"kind": "opo", "lengths": [1]}),
    (ValueError, "lengths: 1.5 in row 0, expected a count", {"kind": "opo", "lengths": [1.5, 2]}),
    (ValueError, "lengths: NaN in row 1", {"kind": "opo", "lengths": [1, None]}),
    (ValueError, "mask or lengths: not given", {"kind": "opo"}),
    (ValueError, "mask: no value in place 1", {"kind": "opo", "mask": [[1, None], [1]]}),
    (ValueError, "mask: an array of 1 dimensions, expected 2", {"kind": "opo", "mask": np.ones(2)}),
    (ValueError, "mask: row 1: .* of type int", {"kind": "opo", "mask": [[1], 2]}),
    (ValueError, "parts: a: 1 values", {"parts": {"a": [1.0]}}),
    (ValueError, "policy: sum_pi_squared: not given", {"policy": {"log_probs": [[0.0], [0.0]]}}),
    (ValueError, "state: expected", {"state": {"a": "b"}}),
]


@pytest.mark.parametrize(("error", "why", "given"), WRONG)
def test_what_is_wrong_with_advantages_is_named(error: type[Exception], why: str, given: dict[str, Any]) -> None:
    with pytest.raises(error, match=why):
        assay.advantages(**{"rewards": [1.0, 0.0], "groups": 2, "kind": "grpo", **given})


def test_selection_drops_what_nothing_is_learned_from() -> None:
    rewards = [1.0, 0.0, 1.0, 1.0, None, 1.0]
    selected = assay.select(rewards, ["a", "a", "b", "b", "c", "c"], kind="dynamic", batch_groups=3)
    assert (selected.kept, selected.weights, selected.from_tokens, selected.held) in [
        ([0, 1], [1.0, 1.0], [0, 0], []),
        ([], [], [], [0, 1]),
    ]
    assert selected.dropped == {2: "low_variance", 3: "low_variance", 4: "missing_reward", 5: "single"}
    assert selected.ready is False and selected.requests[0]["kind"] == "new_prompts"
    again = assay.select([0.0, 1.0, 2.0, 0.0], 2, kind="dynamic", batch_groups=3, state=selected.state)
    assert again.ready and again.state["batches"] == 2


def test_selected_rows_index_what_came() -> None:
    rewards = np.array([0.0, 1.0, 1.0, 1.0])
    selected = assay.select(rewards, np.array([5, 5, 6, 6]), kind="dynamic")
    assert selected.kept.dtype == np.int64 and rewards[selected.kept].tolist() == [0.0, 1.0]
    assert selected.weights.dtype == np.float64
    tensor = assay.select(Tensor(rewards), 2, kind="dynamic").kept
    assert isinstance(tensor, Tensor) and tensor.numpy.dtype == np.int64
    none = assay.select(np.ones(4), 2, kind="dynamic").kept
    assert none.shape == (0,)


def test_selection_reads_every_column() -> None:
    pairs = assay.select([1.0, 0.0, 0.5, 0.5], 2, kind="pairs").pairs
    assert pairs == [(0, 1)]
    cut: dict[str, Any] = {"truncated": [False, True], "lengths": [5, 9]}
    assert assay.select([1.0, 0.0], 2, kind="length_cap", drop="all", **cut).dropped == {1: "truncated"}
    lucky = assay.select([0.0, 1.0], 2, kind="length_cap", advantages=[-0.5, 0.5], **cut)
    assert lucky.dropped == {1: "truncated_positive"}
    ids = ["p0", "p1", "p2", "p3"]
    mined = assay.select([1.0, 0.0, 1.0, 1.0], 2, kind="hard_mining", prompts=["x", "x", "y", "y"], ids=ids)
    assert set(mined.prompt_weights) == {"x", "y"}
    by_group = assay.select([1.0, 0.0, 1.0, 1.0], 2, kind="hard_mining", prompts=["x", "y"], ids=ids)
    assert by_group == mined
    stages = [{"kind": "dynamic"}, {"kind": "length_cap", "drop": "all"}]
    marks = np.array([True, False] * 2)
    chained = assay.select([1.0, 0.0, 1.0, 1.0], 2, kind="chain", stages=stages, truncated=marks)
    assert chained.kept == [1]


def test_selection_of_old_rollouts_of_prompts_and_of_tries() -> None:
    rewards = [1.0, 0.0, 1.0, 0.0]
    stale: dict[str, Any] = {"kind": "stale", "age_max": 1, "versions": [5, 3, 4, 5]}
    assert assay.select(rewards, 2, **stale).dropped == {1: "stale"}
    assert assay.select(rewards, 2, **stale, version=6).dropped == {1: "stale", 2: "stale"}
    # Of curves (0.5, 1) and (0.5, 0) the mean is (0.5, 0.5): each scores 1 - 0.25 / 0.5.
    curves = [[0.5, 1.0], [0.5, 0.0]]
    assert assay.select(rewards, 2, kind="limr", min=0.5, curves=curves).kept == [0, 1, 2, 3]
    assert assay.select(rewards, 2, kind="limr", min=0.6, curves=curves).kept == []
    tries: list[dict[str, Any]] = [{}, {"retry_of": 0, "pivot": 3, "pivot_of_first": 2}, {}, {}]
    assert assay.select([0.0, 1.0, 1.0, 0.0], 2, kind="r3l", attempts=tries).from_tokens == [2, 3, 0, 0]


def test_steps_may_have_a_start() -> None:
    given: dict[str, Any] = {"kind": "cm2", "members_min": 2, "scale": "none", "lengths": [3, 3]}
    steps: list[Any] = [[(1, 3, 1.0)], [{"start": 0, "end": 3, "reward": 0.0}]]
    found = assay.advantages([1.0, 0.0], 2, steps=steps, **given).values
    assert found == [[0.0, 0.5, 0.5], [-0.5, -0.5, -0.5]]
    whole = assay.advantages([1.0, 0.0], 2, steps=[[(3, 1.0)], [(3, 0.0)]], **given).values
    assert whole == [[0.5] * 3, [-0.5] * 3]


def test_selection_repeats_under_one_seed() -> None:
    rewards = np.random.default_rng(1).random(64)
    advantages = assay.advantages(rewards, 8, kind="grpo").values

    def drawn(seed: int) -> Any:
        options: dict[str, Any] = {"advantages": advantages, "batch_rollouts": 16, "seed": seed}
        return assay.select(rewards, 8, kind="ssr", **options)

    assert drawn(1).weights.sum() + len(drawn(1).replayed) >= 1
    assert json.dumps(drawn(1).state) == json.dumps(drawn(1).state)
    assert any(drawn(seed).kept.tolist() != drawn(1).kept.tolist() for seed in range(2, 9))


@pytest.mark.parametrize(
    ("error", "why", "given"),
    [
        (assay.ConfigError, "no selection is called", {"kind": "none_such"}),
        (assay.ConfigError, "`between`", {"by": "mean", "between": [1.0, 0.0]}),
        (ValueError, "advantages: 1 values", {"advantages": [1.0]}),
        (ValueError, "truncated: not given", {"kind": "length_cap"}),
        (ValueError, "advantages: not given", {"kind": "length_cap", "truncated": [0, 1]}),
        (ValueError, "prompts: a value of type float", {"prompts": [0.5, 0.5]}),
        (ValueError, "state: ", {"state": {"batch": 1}}),
        (ValueError, "attempts: ", {"attempts": [{"retry": 1}, {}]}),
        (ValueError, "seed: expected an int", {"seed": -1}),
        (ValueError, "versions: not given", {"kind": "stale", "age_max": 1}),
        (ValueError, "version: expected an int", {"version": -1}),
    ],
)
def test_what_is_wrong_with_a_selection_is_named(error: type[Exception], why: str, given: dict[str, Any]) -> None:
    with pytest.raises(error, match=why):
        assay.select(**{"rewards": [1.0, 0.0], "groups": 2, "kind": "dynamic", **given})


def test_diagnostics_are_functions_of_columns() -> None:
    assert assay.pass_at_k(4, 2, 2) == pytest.approx(5 / 6)
    assert assay.pass_at_k(4, 2, 5) is None
    curve = assay.diagnostics.pass_curve(np.array([True, False, False, False]), 2, ks=[1])
    assert [(point["k"], point["value"]) for point in curve["points"]] == [(1, 0.25)]
    assert assay.diagnostics.pass_curve([True, None, None, False], 2)["samples"] == 2
    found = assay.diagnostics.correlation([1.0, 2.0, None, 4.0], np.array([1.0, 3.0, 9.0, 7.0]))
    assert (found["rows"], found["slope"]) == (3, pytest.approx(2.0))
    with pytest.raises(ValueError, match="y: 1 values, expected 2"):
        assay.diagnostics.correlation([1, 2], [1])
    within = assay.diagnostics.correlation([1, 2, 11, 12], [1, 0, 1, 0], groups=["a", "a", "b", "b"])
    assert within["pearson"] == pytest.approx(-1.0)
    bias = assay.diagnostics.length_bias([10, 20], [0, 1], 2, correct=[False, True])
    assert (bias["mean_length_correct"], bias["mean_length_wrong"]) == (20.0, 10.0)


BARE = """
import sys
sys.modules["numpy"] = sys.modules["torch"] = None
import assay
print(assay.advantages([1.0, 0.0], 2, kind="dr_grpo").values)
print(assay.select([1.0, 0.0], 2, kind="dynamic").kept)
print(assay.policy_loss([[0.0]], [1.0], kind="ppo").gradient)
"""


def test_lists_need_no_other_package() -> None:
    found = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.splitlines() == ["[0.5, -0.5]", "[0, 1]", "[[-1.0]]"], found.stderr
