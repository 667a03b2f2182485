"""verl: a class for ``reward.reward_manager.source=importlib``, which sees every output of a rollout."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from assay._faults import Unscored
from assay.adapters._adapter import Trainer, of_environment
from assay.adapters._one import only_reward
from assay.adapters._talk import completion_of

TRAINER = Trainer("verl", uses="`verl_manager.RewardManager`", fault="an error")


class RewardManager:
    """A reward manager of verl's reward loop; its settings are in ``reward.reward_kwargs``.

    ``algorithm.gdpo_reward_keys`` may name ``assay/reward/NAME``: such a reward has a number for every
    sample, or is an error, since one without would make the advantages of its group NaN.
    """

    def __init__(self, config: Any, tokenizer: Any, compute_score: Any = None, **others: Any) -> None:
        given = config.reward.get("reward_kwargs") or {}
        options = given.get("assay_options") or {}
        self._adapter = of_environment(TRAINER, given.get("assay_config"), **options)
        self._tokenizer = tokenizer
        self._needed = set((config.get("algorithm") or {}).get("gdpo_reward_keys") or ())

    async def run_single(self, data: Any) -> dict[str, Any]:
        """The reward of a rollout, whose outputs are the rows of ``data``, and what verl logs beside it.

        Raises:
            Unscored: It has none.
            TooManyFaults: There are too many faults.
        """
        ids = [_token_ids(output) for output in data]
        decode = self._tokenizer.decode
        texts = await asyncio.to_thread(lambda: [decode(one, skip_special_tokens=True) for one in ids])
        row = data[-1].non_tensor_batch
        columns = {**(row.get("extra_info") or {}), **(row.get("tool_extra_fields") or {})}
        columns |= {"data_source": row["data_source"], "num_turns": row.get("__num_turns__")}
        batch = await self._adapter.score_row_async(
            columns,
            completion_of([{"role": "assistant", "content": text} for text in texts]),
            prompt=list(row["raw_prompt"]) if "raw_prompt" in row else None,
            reference=row["reward_model"]["ground_truth"],
            token_ids=ids[-1],
        )
        score = only_reward(batch, "verl needs a number")
        info = batch.sample_metrics(0, missing=None)
        for key in self._needed & info.keys():
            if info[key] is None:
                raise Unscored(f"{key}: no number, and GDPO needs one: {batch.outcomes()[0]}")
        return {"reward_score": score, "reward_extra_info": {"score": score, **info}}

    @classmethod
    def assemble_rm_scores(cls, data: Any, scores: list[float]) -> Any:
        """The tensor of rewards, as verl itself makes it."""
        base = importlib.import_module("verl.experimental.reward_loop.reward_manager.base")
        return base.RewardManagerBase.assemble_rm_scores(data, scores)


def _token_ids(output: Any) -> list[int]:
    """Those of a response. The mask of several outputs is padded behind, and says nothing of its end."""
    responses = output.batch["responses"]
    length = output.non_tensor_batch.get("response_len")
    if length is None:
        length = output.batch["attention_mask"][-responses.shape[-1] :].sum()
    return list(responses[: int(length)].tolist())
