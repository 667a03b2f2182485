"""OpenRLHF: an ``AgentExecutor`` for ``--train.agent_func_path``, which may be this file."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeAlias

from assay.adapters._adapter import Adapter, Config, Trainer, of_environment
from assay.adapters._one import only_reward
from assay.adapters._response import response_of
from assay.adapters._talk import completion_of

Reply: TypeAlias = Callable[[list[dict[str, str]]], str | None]

TRAINER = Trainer(
    "OpenRLHF",
    uses="`openrlhf_agent.AgentExecutor`, `openrlhf_agent.executor(config)`",
    fault="an error",
)


class Agent:
    """What judges one conversation; :func:`executor` makes it an ``AgentInstanceBase``."""

    adapter: Adapter
    reply: Reply

    def __init__(self) -> None:
        self._prompt = ""
        self._turns: list[dict[str, str]] = []

    async def reset(self, states: Any, **options: Any) -> Any:
        """The prompt as it is."""
        self._prompt = states["observation"]
        return states

    async def step(self, state_dict: dict[str, Any], **options: Any) -> dict[str, Any]:
        """The reply to an answer, or the end and the reward: OpenRLHF adds those of all steps."""
        torch = importlib.import_module("torch")
        answer = response_of(state_dict["action_text"], "") or ""
        self._turns.append({"role": "assistant", "content": answer})
        said = self.reply(list(self._turns))
        told = {"rewards": torch.zeros(()), "environment_feedback": said or "", "done": said is None}
        if said is not None:
            self._turns.append({"role": "user", "content": said})
            return told
        label = None if state_dict["label"] == "" else state_dict["label"]
        talk = completion_of(self._turns)
        batch = await self.adapter.score_row_async({}, talk, prompt=self._prompt, reference=label)
        reward = only_reward(batch, "OpenRLHF needs a number")
        told["rewards"] = torch.tensor(reward, dtype=torch.float64)
        return {**told, "scores": reward, "extra_logs": batch.metrics}


def executor(config: Config | None = None, *, reply: Reply = lambda turns: None, **settings: Any) -> Any:
    """The class for the file that ``--train.agent_func_path`` names.

    ``reply`` is what follows the turns so far, in the words of the chat template; ``None`` ends them.
    ``config`` and ``settings`` are those of :mod:`assay.adapters`.
    """
    agents = importlib.import_module("openrlhf.utils.agent")
    members = {"adapter": of_environment(TRAINER, config, **settings), "reply": staticmethod(reply)}
    instance = type("AssayAgent", (Agent, agents.AgentInstanceBase), members)
    start = functools.partialmethod(agents.MultiTurnAgentExecutor.__init__, instance)
    return type("AgentExecutor", (agents.MultiTurnAgentExecutor,), {"__init__": start})


def __getattr__(name: str) -> Any:
    if name == "AgentExecutor":
        return executor()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
