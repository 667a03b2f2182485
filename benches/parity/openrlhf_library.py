"""What is called of OpenRLHF, imported without the packages that only its training on GPUs needs."""

from __future__ import annotations

import importlib

from absent import stand_in

importlib.import_module("transformers")
stand_in("aiohttp", "deepspeed", "flash_attn", "peft", "pylatexenc", "torchdata", "vllm")

_loss = importlib.import_module("openrlhf.models.loss")
_utils = importlib.import_module("openrlhf.models.utils")
_maker = importlib.import_module("openrlhf.trainer.ppo_utils.experience_maker")
_penalties = importlib.import_module("openrlhf.trainer.ppo_utils.length_penalty")

PolicyLoss = _loss.PolicyLoss
aggregate_loss = _loss.aggregate_loss
compute_approx_kl = _utils.compute_approx_kl
RemoteExperienceMaker = _maker.RemoteExperienceMaker
apply_overlong_penalty = _penalties.apply_overlong_penalty
apply_stop_properly_penalty = _penalties.apply_stop_properly_penalty
