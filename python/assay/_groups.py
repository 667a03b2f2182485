"""What a trainer does with rewards: advantages, and which rollouts are trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from assay import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class GroupReport(TypedDict):
    """What is to be said of the groups of a batch."""

    groups: int
    of_one: int
    """Groups in which one rollout alone has a reward."""
    without_variance: int
    """Groups of more, all of whose rewards are equal."""
    without_reward: int
    """Groups in which no rollout has a reward."""
    missing: int
    """Rollouts without a reward."""


class Advantages(NamedTuple):
    """The advantages of a batch.

    >>> assay.advantages([1.0, 0.0, 1.0, 1.0], 2, kind="grpo").report["without_variance"]
    1
    """

    values: Any
    """In the kind of the rewards: a list, an array of ``float64``, a tensor. For an estimator of
    tokens a row for each rollout, or one padded array where the mask is one."""
    report: GroupReport
    state: dict[str, list[float]]
    """What the estimator keeps for the next batch; empty for one that keeps nothing."""


class Selected(NamedTuple):
    """What becomes of the rollouts of a batch: each of them is kept, held or dropped.

    >>> assay.select([1.0, 0.0, 1.0, 1.0], 2, kind="dynamic").dropped
    {2: 'low_variance', 3: 'low_variance'}
    """

    kept: Any
    """Rows that are trained on now, in the kind of the rewards: they index what came."""
    weights: Any
    """How often each row of ``kept`` counts."""
    from_tokens: Any
    """The first token of each row of ``kept`` that is trained on."""
    held: Any
    """Rows that are trained on in a later batch; they come back in ``replayed``."""
    dropped: dict[int, str]
    """Rows that are not trained on, and why."""
    ready: bool
    """Whether the training batch is complete. Where it is not, sample what is requested first."""
    replayed: list[dict[str, Any]]
    """Rollouts of earlier batches that are trained on now: ``id``, ``weight``, ``advantage``."""
    requests: list[dict[str, Any]]
    """What is to be sampled next."""
    stored: list[dict[str, Any]]
    """Rows that the caller keeps for later: ``row``, ``part``, ``reward``."""
    released: list[str]
    """Ids of rollouts of earlier batches that will not come back."""
    pairs: list[tuple[int, int]]
    """The rows of a preferred rollout and of another one, for a loss of preferences."""
    prompt_weights: dict[str, float]
    """How often prompts are to be sampled from now on, relative to one another."""
    metrics: dict[str, float]
    """What the policy measured."""
    state: dict[str, Any]
    """What the policy keeps for the next batch."""


def advantages(
    rewards: Any,
    groups: Any,
    *,
    kind: str | None = None,
    preset: str | None = None,
    parts: Mapping[str, Any] | None = None,
    part_weights: Mapping[str, float] | None = None,
    lengths: Any = None,
    mask: Any = None,
    token_rewards: Any = None,
    token_values: Any = None,
    policy: Mapping[str, Any] | None = None,
    steps: Iterable[Iterable[Any]] | None = None,
    step_tags: Iterable[Iterable[str]] | None = None,
    starts: Any = None,
    roles: Iterable[str] | None = None,
    prompts: Iterable[str | int] | None = None,
    values: Any = None,
    state: Mapping[str, list[float]] | None = None,
    **settings: Any,
) -> Advantages:
    """What each rollout earned, relative to the other rollouts of its batch.

    A column has a value for each rollout: a list, an array, or a tensor. A column of tokens has a row
    for each rollout, a list of rows or one padded array. What an estimator does not need may be left
    out; what it needs it asks for. A reward that is missing is ``None`` or NaN: it takes part in no
    statistic, and its advantage is 0.

    Args:
        rewards: The reward of each rollout.
        groups: Which rollouts share a prompt: the size of groups that stand one after another, or a
            key for each rollout (all ``int`` or all ``str``), wherever they stand.
        kind: The estimator, such as ``"grpo"``; by default that of the preset.
        preset: The library and version whose settings are filled in, such as ``"trl-1.16"``.
        parts: The rewards that these were combined from, by name.
        part_weights: The weight of each part, 1 by default.
        lengths: Tokens of each response that are trained on, where there is no ``mask``.
        mask: Which tokens of each response are trained on.
        token_rewards: A reward for each token, such as a penalty for the divergence.
        token_values: The value that a critic predicts at each token.
        policy: Of each token ``log_probs``, ``sum_pi_squared`` and, off policy, ``weights``.
        steps: The steps of each response: pairs of the token behind the last one and the reward, or
            triples with the first token before them. A step without a first token begins where the one
            before ends; tokens between two steps belong to neither.
        step_tags: A tag for each step.
        starts: The first token of each response that is credited.
        roles: The role that each rollout played.
        prompts: The id of the prompt of each rollout.
        values: A value that was predicted for each rollout.
        state: The ``state`` of the call before.
        settings: Those of the estimator, over those of the preset.

    Raises:
        ConfigError: A kind, a preset or a setting that cannot be used.
        ValueError: A column that is missing, or does not fit: which one, and why.

    >>> assay.advantages([1.0, 0.0, 1.0, None], ["a", "a", "b", "b"], kind="dr_grpo").values
    [0.5, -0.5, 0.0, 0.0]
    >>> assay.advantages([1.0, 0.0], 2, preset="trl-1.16", scale="none").values
    [0.5, -0.5]
    """
    given = {
        "settings": table(settings, kind, preset),
        "rewards": rewards,
        "groups": grouped(groups),
        "parts": parts,
        "part_weights": part_weights,
        "lengths": lengths,
        "mask": mask,
        "token_rewards": token_rewards,
        "token_values": token_values,
        "policy": policy,
        "steps": steps,
        "step_tags": step_tags,
        "starts": starts,
        "roles": roles,
        "prompts": prompts,
        "values": values,
        "state": state,
    }
    return Advantages(*_core.advantages(given))


def select(
    rewards: Any,
    groups: Any,
    *,
    kind: str | None = None,
    preset: str | None = None,
    ids: Iterable[str | int] | None = None,
    prompts: Iterable[str | int] | None = None,
    advantages: Any = None,
    lengths: Any = None,
    truncated: Any = None,
    step_means: Any = None,
    step_counts: Any = None,
    pass_rates: Any = None,
    curves: Any = None,
    extra: Any = None,
    attempts: Iterable[Mapping[str, Any]] | None = None,
    versions: Iterable[int] | None = None,
    version: int | None = None,
    state: Mapping[str, Any] | None = None,
    seed: int = 0,
    **settings: Any,
) -> Selected:
    """Which rollouts of a batch are trained on, which prompts need more of them, and what is trained
    on again.

    Columns are as for :func:`advantages`. Pass the ``state`` of a call to the next one.

    Args:
        rewards: The reward of each rollout. One without a reward is never kept.
        groups: Which rollouts share a prompt, as for :func:`advantages`.
        kind: The policy, such as ``"dynamic"``; by default that of the preset. ``"chain"`` puts
            ``stages`` one after another.
        preset: The library and version whose settings are filled in, such as ``"dapo-2503"``.
        ids: What each rollout is called in what is stored for later.
        prompts: What the prompt of each rollout, or of each group, is called.
        advantages: The advantage of each rollout.
        lengths: Tokens of each response.
        truncated: Which responses were cut at the length limit.
        step_means: The mean of the step rewards of each rollout.
        step_counts: How many steps each rollout has.
        pass_rates: The share of right answers to the prompt of each group, where it is known.
        curves: The accuracy on the prompt of each group after each epoch.
        extra: Which rollouts were asked for in addition to those of a first pass.
        attempts: Which try each rollout was: ``retry_of``, ``pivot``, ``pivot_of_first``,
            ``judged_perfect``.
        versions: The version of the policy that made the oldest token of each rollout.
        version: That of the policy that is trained; by default the newest of ``versions``.
        state: The ``state`` of the call before.
        seed: Where the randomness begins, in the first call.
        settings: Those of the policy, over those of the preset.

    Raises:
        ConfigError: A kind, a preset or a setting that cannot be used.
        ValueError: A column that is missing, or does not fit: which one, and why.

    >>> selected = assay.select([1.0, 0.0, 1.0, 1.0], ["a", "a", "b", "b"], kind="dynamic")
    >>> selected.kept, selected.weights
    ([0, 1], [1.0, 1.0])
    """
    given = {
        "settings": table(settings, kind, preset),
        "rewards": rewards,
        "groups": grouped(groups),
        "ids": ids,
        "prompts": prompts,
        "advantages": advantages,
        "lengths": lengths,
        "truncated": truncated,
        "step_means": step_means,
        "step_counts": step_counts,
        "pass_rates": pass_rates,
        "curves": curves,
        "extra": extra,
        "attempts": None if attempts is None else [dict(one) for one in attempts],
        "versions": versions,
        "version": version,
        "state": state,
        "seed": seed,
    }
    return Selected(**_core.select(given))


def grouped(groups: Any) -> Any:
    """Groups as they are, but a size of any kind of integer as an ``int``. A tensor of one key has a length."""
    if hasattr(groups, "__index__") and not hasattr(groups, "__len__"):
        import operator

        return operator.index(groups)
    return groups


def table(settings: dict[str, Any], kind: str | None, preset: str | None) -> dict[str, Any]:
    """A table of a configuration."""
    return {"kind": kind, "preset": preset, **settings}
