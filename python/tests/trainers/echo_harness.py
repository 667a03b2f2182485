"""A harness of verifiers that asks its model once."""

from __future__ import annotations

import importlib
from typing import Any

httpx: Any = importlib.import_module("httpx")
vf: Any = importlib.import_module("verifiers.v1")

__all__ = ["EchoHarness"]


class EchoHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """Sends the prompt of a task to the endpoint that verifiers gives it."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def setup(self, runtime: Any) -> None:
        """Nothing is installed."""

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: Any,
        data: Any,
        *rest: Any,
    ) -> Any:
        """One question and its answer, which verifiers writes into the trace."""
        messages = [{"role": "user", "content": data.prompt_text}]
        async with httpx.AsyncClient(timeout=30) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions",
                headers={"Authorization": f"Bearer {secret}"},
                json={"model": ctx.model, "messages": messages},
            )
        return vf.ProgramResult(exit_code=0 if reply.is_success else 1, stdout="", stderr="")
