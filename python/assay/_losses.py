"""Policy losses: a value and its gradient, which any tensor library trains with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from assay import _core
from assay._groups import Advantages, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class PolicyLoss(NamedTuple):
    """The loss of a batch.

    >>> assay.policy_loss([[-0.5, -1.0]], [1.0], kind="ppo").metrics["tokens"]
    2.0
    """

    value: float
    """The loss, to be minimised."""
    gradient: Any
    """Its derivative with respect to the log-probability of each token, in the kind and the shape of
    ``logp``; 0 where it is masked."""
    entropy_gradient: Any
    """Its derivative with respect to the entropy of each token, where there is a bonus for it; else
    None."""
    metrics: dict[str, float]
    """What is to be said of the batch."""
    entropy_state: dict[str, Any] | None
    """What an adaptive entropy coefficient keeps for the next batch."""


def policy_loss(
    logp: Any,
    advantages: Any,
    *,
    kind: str | None = None,
    preset: str | None = None,
    old: Any = None,
    reference: Any = None,
    rollout: Any = None,
    proximal: Any = None,
    entropies: Any = None,
    mask: Any = None,
    durations: Any = None,
    demonstrations: Any = None,
    staleness: Any = None,
    kl_weights: Any = None,
    completion_max: float | None = None,
    scale: Mapping[str, Any] | None = None,
    entropy_state: Mapping[str, Any] | None = None,
    seed: int = 0,
    **settings: Any,
) -> PolicyLoss:
    """The loss of a batch and its exact gradient with respect to the log-probabilities.

    A column of tokens has a row for each rollout: a padded array (or tensor) of two dimensions with a
    ``mask``, or a list of rows of different lengths. Whatever stands where the mask is 0 is not read.

    In PyTorch, make the step of this loss by a surrogate that has its gradient::

        loss = assay.policy_loss(logp, advantages, old=old, mask=mask, preset="trl-1.16")
        (loss.gradient * logp).sum().backward()

    ``loss.gradient`` is detached. With an entropy bonus add
    ``(loss.entropy_gradient * entropies).sum()`` before ``backward``.

    Args:
        logp: The log-probability of each token under the policy that is trained.
        advantages: One for each rollout or for each token, or the result of
            :func:`assay.advantages`.
        kind: The objective, such as ``"dapo"``; by default that of the preset.
        preset: The library and version whose settings are filled in, such as ``"trl-1.16"``.
        old: Under the policy at the start of the step; ``logp`` itself where it is not given.
        reference: Under the reference policy.
        rollout: Under the engine that generated the rollouts; NaN where it is not known.
        proximal: Under the proximal policy of a decoupled objective.
        entropies: The entropy of the policy at each token.
        mask: Which tokens are trained on; all of them where it is not given.
        durations: How long each action took, for weights by duration.
        demonstrations: Which rollouts are demonstrations of somebody else.
        staleness: How many versions each rollout is behind the policy.
        kl_weights: A factor of the divergence penalty for each rollout.
        completion_max: The greatest length of a completion, where an aggregation divides by it.
        scale: What the batch is a part of: ``tokens``, ``sequences``, ``processes``,
            ``accumulation_steps``, ``steps_per_generation``, ``ends_step``.
        entropy_state: The ``entropy_state`` of the call before.
        seed: For losses that choose tokens by chance: another one for each batch.
        settings: Those of the loss, over those of the preset: ``aggregation``, ``kl``,
            ``correction``, ``entropy``, and those of the kind.

    Raises:
        ConfigError: A kind, a preset or a setting that cannot be used.
        ValueError: A column that is missing, or does not fit: which one, and why.

    >>> loss = assay.policy_loss([[-0.5, -1.0], [-0.2]], [1.0, -1.0], kind="ppo")
    >>> round(loss.value, 6), [[round(slope, 6) for slope in row] for row in loss.gradient]
    (-0.333333, [[-0.333333, -0.333333], [0.333333]])
    """
    given = {
        "settings": table(settings, kind, preset),
        "logp": logp,
        "advantages": advantages.values if isinstance(advantages, Advantages) else advantages,
        "old": old,
        "reference": reference,
        "rollout": rollout,
        "proximal": proximal,
        "entropies": entropies,
        "mask": mask,
        "durations": durations,
        "demonstrations": demonstrations,
        "staleness": staleness,
        "kl_weights": kl_weights,
        "completion_max": completion_max,
        "scale": scale,
        "entropy_state": entropy_state,
        "seed": seed,
    }
    return PolicyLoss(*_core.policy_loss(given))


class PreferenceLoss(NamedTuple):
    """The loss of pairs: its value, its gradient as in :class:`PolicyLoss`, and its metrics.

    >>> loss = assay.preference_loss([[-0.5], [-1.0]], [[-1.0], [-1.0]], [(0, 1)], kind="ipo", beta=1.0)
    >>> loss.value, loss.gradient, loss.metrics["accuracy"]
    (0.0, [[0.0], [0.0]], 1.0)
    """

    value: float
    gradient: Any
    metrics: dict[str, float]


def preference_loss(
    logp: Any,
    reference: Any,
    pairs: Iterable[tuple[int, int]],
    *,
    kind: str,
    beta: float,
    mask: Any = None,
) -> PreferenceLoss:
    """The mean loss of pairs of responses, the first of which is preferred, and its gradient.

    Args:
        logp: The log-probability of each token under the policy, as for :func:`policy_loss`.
        reference: Under the reference policy.
        pairs: The rows of a preferred response and of another one, such as the ``pairs`` of
            :func:`assay.select`.
        kind: ``"sigmoid"`` (DPO), ``"ipo"`` or ``"mio"``.
        beta: How strongly the policy is held to the reference.
        mask: Which tokens count; all of them where it is not given.

    Raises:
        ConfigError: A kind or a ``beta`` that cannot be used.
        ValueError: A column that does not fit.

    >>> round(assay.preference_loss([[0.0], [0.0]], [[0.0], [0.0]], [(0, 1)], kind="sigmoid", beta=1).value, 6)
    0.693147
    """
    given = {
        "settings": {"kind": kind, "beta": beta},
        "logp": logp,
        "reference": reference,
        "pairs": list(pairs),
        "mask": mask,
    }
    return PreferenceLoss(*_core.preference_loss(given))


def kl_rewards(
    logp: Any,
    reference: Any,
    *,
    kind: str | None = None,
    preset: str | None = None,
    old: Any = None,
    mask: Any = None,
    **settings: Any,
) -> Any:
    """The penalty of each token for its divergence from the reference, ``-coefficient * kl``, in the
    kind and the shape of ``logp``. Pass it as ``token_rewards`` to :func:`assay.advantages`, where
    the penalty is a part of the reward.

    Args:
        logp: The log-probability of each token under the policy.
        reference: Under the reference policy.
        kind: The loss whose ``kl`` says how; by default that of the preset.
        preset: The library and version whose settings are filled in.
        old: Under the policy at the start of the step; ``logp`` itself where it is not given.
        mask: Which tokens are trained on; all of them where it is not given.
        settings: Those of the loss, such as ``kl={"coefficient": 0.1}``.

    >>> kl = {"place": "reward", "coefficient": 0.5, "estimator": "k1"}
    >>> assay.kl_rewards([[-0.5, -1.0]], [[-1.5, -1.0]], kind="ppo", kl=kl)
    [[-0.5, -0.0]]
    """
    given = {
        "settings": table(settings, kind, preset),
        "logp": logp,
        "reference": reference,
        "old": old,
        "mask": mask,
    }
    return _core.kl_rewards(given)
