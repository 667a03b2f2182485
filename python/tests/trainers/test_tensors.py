"""Advantages, losses and selection over tensors of PyTorch."""

from __future__ import annotations

import math

import assay
import pytest

torch = pytest.importorskip("torch")


def batch(dtype, seed=0):
    """Log-probabilities of a policy and an older one, and which tokens are trained on."""
    random = torch.Generator().manual_seed(seed)
    old = -torch.rand((6, 5), generator=random, dtype=torch.float64) * 3
    logp = (old + torch.randn((6, 5), generator=random, dtype=torch.float64) / 4).to(dtype)
    mask = torch.arange(5) < torch.tensor([5, 3, 4, 1, 2, 5])[:, None]
    return logp.requires_grad_(), old.to(dtype), mask


def test_advantages_are_tensors_like_the_rewards():
    rewards = torch.tensor([1.0, 0.0, math.nan, 1.0], dtype=torch.float32)
    found = assay.advantages(rewards, torch.tensor([3, 3, 5, 5]), kind="dr_grpo")
    assert found.values.dtype == torch.float32
    assert found.values.tolist() == [0.5, -0.5, 0.0, 0.0]
    assert assay.advantages(rewards.bfloat16(), 2, kind="dr_grpo").values.dtype == torch.bfloat16
    whole = torch.tensor([1, 0])
    assert assay.advantages(whole, 2, kind="dr_grpo").values.tolist() == [0.5, -0.5]
    assert assay.advantages(whole > 0, 2, kind="dr_grpo").values.dtype == torch.float64
    kept = assay.select(rewards, 2, kind="dynamic").kept
    assert kept.dtype == torch.int64 and rewards[kept].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_surrogate_steps_as_the_loss_written_in_torch(dtype):
    logp, old, mask = batch(getattr(torch, dtype))
    advantages = torch.linspace(-1, 1, 6, dtype=logp.dtype)
    loss = assay.policy_loss(logp, advantages, old=old, mask=mask, kind="ppo", eps_low=0.2, eps_high=0.2)
    assert loss.gradient.dtype == logp.dtype and not loss.gradient.requires_grad
    (loss.gradient * logp).sum().backward()
    ours, logp.grad = logp.grad, None
    ratio = torch.exp(logp - old)
    terms = torch.min(ratio * advantages[:, None], ratio.clamp(0.8, 1.2) * advantages[:, None])
    theirs = -(terms * mask).sum() / mask.sum()
    theirs.backward()
    assert loss.value == pytest.approx(theirs.item(), rel=1e-6)
    assert torch.allclose(ours, logp.grad, rtol=1e-5, atol=1e-7)
    assert not ours[~mask].any()


def test_rows_of_different_lengths_are_tensors_too():
    logp, old, mask = batch(torch.float64)
    rows = [row[kept] for row, kept in zip(logp, mask)]
    older = [row[kept] for row, kept in zip(old, mask)]
    advantages = torch.linspace(-1, 1, 6)
    ragged = assay.policy_loss(rows, advantages, old=older, kind="dapo")
    padded = assay.policy_loss(logp, advantages, old=old, mask=mask, kind="dapo")
    assert ragged.value == padded.value
    assert torch.equal(torch.cat(ragged.gradient), padded.gradient[mask])
    assert assay.advantages([1.0, 0.0], 2, kind="reinforce_plus_plus", mask=mask[:2]).values.shape == (2, 5)
