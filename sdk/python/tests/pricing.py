"""An agent that prices deals: it asks a model, a database and the model again. What it calls is counted."""

from __future__ import annotations

from typing import Any

import quipu

CRM = "mcp:crm:lookup-1"


class World:
    """What is outside of the agent."""

    def __init__(self) -> None:
        self.calls = 0

    def model(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answers like a model."""
        self.calls += 1
        if "Who" in request["prompt"]:
            return {"customer": "Acme", "list_price": 50}
        return {"text": "Offer it.", "model": "small", "usage": {"input_tokens": 3, "output_tokens": 2}}

    def lookup(self, customer: str) -> dict[str, Any]:
        """Answers like a database."""
        self.calls += 1
        return {"tier": "gold", "name": customer}


def price(run: quipu.Run, world: World) -> dict[str, Any]:
    """The agent."""
    deal = run.llm("main", world.model, {"prompt": "Who asks?"})
    tier = run.tool("crm", "lookup", world.lookup, {"customer": deal["customer"]})["tier"]
    total = deal["list_price"] * (80 if tier == "gold" else 100) // 100
    run.llm("main", world.model, {"prompt": f"May we offer {total}?"})
    return {"tier": tier, "price": total, "at": run.now("priced")}


async def price_async(run: quipu.AsyncRun, world: World) -> dict[str, Any]:
    """The same agent, awaiting."""

    async def model(request: dict[str, Any]) -> dict[str, Any]:
        return world.model(request)

    deal = await run.llm("main", model, {"prompt": "Who asks?"})
    tier = (await run.tool("crm", "lookup", world.lookup, {"customer": deal["customer"]}))["tier"]
    total = deal["list_price"] * (80 if tier == "gold" else 100) // 100
    await run.llm("main", model, {"prompt": f"May we offer {total}?"})
    return {"tier": tier, "price": total, "at": await run.now("priced")}
