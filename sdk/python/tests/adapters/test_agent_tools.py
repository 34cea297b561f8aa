"""Agents of the OpenAI Agents SDK whose tools are recorded with their model: a replay calls none of them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    FunctionTool,
    LocalShellTool,
    OpenAIResponsesModel,
    Runner,
    ToolOutputImage,
    WebSearchTool,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from agents.mcp import MCPServerStdio

import quipu
from quipu.adapters.openai import record as record_client
from quipu.adapters.openai_agents import record

from ..servers import Server
from .endpoint import CallTool, CallTools, Endpoint

CALLED: list[Any] = []
OPENED: list[openai.AsyncOpenAI] = []
Work = Callable[[quipu.AsyncRun], Awaitable[Any]]


@pytest.fixture(autouse=True)
def _apart() -> Iterator[None]:
    CALLED.clear()
    OPENED.clear()
    # It would send what is said to the vendor.
    set_tracing_disabled(True)
    yield
    set_tracing_disabled(False)


@function_tool
def price(item: str) -> str:
    """What something costs."""
    CALLED.append(item)
    return f"{item} costs {len(item)}"


def client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    OPENED.append(openai.AsyncOpenAI(base_url=endpoint.url, api_key="none", max_retries=0))
    return OPENED[-1]


def model(endpoint: Endpoint) -> OpenAIResponsesModel:
    return OpenAIResponsesModel("m", client(endpoint))


def twice(server: Server, name: str, work: Work, overrides: dict[str, Any] | None = None) -> list[quipu.AsyncRun]:
    """A run of the work, and its replay."""

    async def main() -> list[quipu.AsyncRun]:
        async with quipu.AsyncField(server.url, field=name) as field:
            async with field.task("work") as run:
                run.result = await work(run)
            replay = await field.replay(run.id, overrides=overrides)
            try:
                return [run, await field.run_replay(replay.id, work)]
            finally:
                for it in OPENED:
                    await it.close()

    return asyncio.run(main())


def test_a_replay_calls_no_tool(server: Server, name: str, endpoint: Endpoint) -> None:
    async def work(run: quipu.AsyncRun) -> str:
        seller: Agent[None] = Agent(name="seller", instructions="Sell tea.", tools=[price], model=model(endpoint))
        return str((await Runner.run(record(seller, run), "What does tea cost?")).final_output)

    endpoint.script = [CallTool("price", {"item": "tea"}), "Three."]
    run, again = twice(server, name, work)
    assert again.result == run.result == "Three."
    assert (CALLED, endpoint.calls, again.drift) == (["tea"], 2, [])
    endpoint.script = [CallTool("price", {"item": "tea"}), "Three."]
    _, changed = twice(server, name, work, {"tool:price:1": "tea is free"})
    assert changed.drift == ["llm:main:2"]
    assert CALLED == ["tea", "tea"]


def test_tools_at_once_and_whatever_they_return(server: Server, name: str, endpoint: Endpoint) -> None:
    @function_tool
    async def look(number: int) -> ToolOutputImage:
        """A picture."""
        await asyncio.sleep((4 - number) / 100)
        CALLED.append(number)
        return ToolOutputImage(image_url=f"data:image/png;base64,{number}")

    @function_tool
    def weigh(item: str) -> Any:
        """Any object."""
        CALLED.append(item)
        return {"item": item, "weight": 1.0, "of": ["a", 2**60]}

    @function_tool(failure_error_function=None)
    def fail(item: str) -> str:
        """Raises."""
        CALLED.append(item)
        raise LookupError(f"no {item}")

    seller: Agent[None] = Agent(name="s", tools=[look, weigh, fail], model=model(endpoint))

    async def work(run: quipu.AsyncRun) -> Any:
        done = await Runner.run(record(seller, run), "Look!")
        items: list[Any] = done.to_input_list()
        said = [str(item["output"]) for item in items if item.get("type") == "function_call_output"]
        with pytest.raises(Exception, match="no tea") as raised:
            await Runner.run(record(seller, run), "Fail!")
        return [said, done.final_output, type(raised.value.__cause__).__name__]

    calls = [CallTool("look", {"number": number}) for number in range(4)]
    failing = CallTool("fail", {"item": "tea"})
    endpoint.script = [CallTools([*calls, CallTool("weigh", {"item": "tea"})]), "Done.", failing]
    run, again = twice(server, name, work)
    assert again.result == run.result
    assert [f"base64,{number}" in run.result[0][number] for number in range(4)] == [True] * 4
    assert run.result[0][4] == "{'item': 'tea', 'of': ['a', 1152921504606846976], 'weight': 1.0}"
    assert run.result[1:] == ["Done.", "LookupError"]
    assert (len(CALLED), again.drift) == (6, [])


def test_agents_that_take_over_are_recorded_too(server: Server, name: str, endpoint: Endpoint) -> None:
    cashier: Agent[None] = Agent(name="cashier", tools=[price], model=model(endpoint))
    clerk: Agent[None] = Agent(name="clerk", tools=[price], model=model(endpoint), handoffs=[cashier])
    seller: Agent[None] = Agent(name="seller", model=model(endpoint), handoffs=[handoff(clerk)])
    cashier.handoffs = [seller]

    async def work(run: quipu.AsyncRun) -> Any:
        done = await Runner.run(record(seller, run), "What does tea cost?")
        return [done.final_output, done.last_agent.name]

    endpoint.script = [
        CallTool("transfer_to_clerk", {}),
        CallTool("price", {"item": "tea"}),
        CallTool("transfer_to_cashier", {}),
        CallTool("price", {"item": "cake"}),
        "Seven.",
    ]
    run, again = twice(server, name, work)
    assert again.result == run.result == ["Seven.", "cashier"]
    assert (CALLED, endpoint.calls) == (["tea", "cake"], 5)


def test_an_agent_that_is_a_tool_is_made_of_the_recorded_one(server: Server, name: str, endpoint: Endpoint) -> None:
    inner: Agent[None] = Agent(name="inner", tools=[price], model=model(endpoint))

    async def work(run: quipu.AsyncRun) -> str:
        plain = inner.as_tool("ask", "Asks the other one.")
        with pytest.raises(ValueError, match="not recorded"):
            record(Agent(name="outer", tools=[plain], model=model(endpoint)), run)
        tool = record(inner, run).as_tool("ask", "Asks the other one.")
        outer: Agent[None] = Agent(name="outer", tools=[tool], model=model(endpoint))
        return str((await Runner.run(record(outer, run), "What does tea cost?")).final_output)

    endpoint.script = [CallTool("ask", {"input": "tea?"}), CallTool("price", {"item": "tea"}), "Three.", "It is three."]
    run, again = twice(server, name, work)
    assert again.result == run.result == "It is three."
    assert (CALLED, endpoint.calls, again.drift) == (["tea"], 4, [])


SERVING = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("shop")

@server.tool()
def price(item: str) -> str:
    "What something costs."
    with open(sys.argv[1], "a") as log:
        print(item, file=log)
    return item + " costs 3"

server.run()
"""


def test_servers_of_tools_are_asked_by_nobody_in_a_replay(
    server: Server, name: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    (tmp_path / "serving.py").write_text(SERVING)

    async def work(run: quipu.AsyncRun) -> str:
        command = "nobody" if run.replays else sys.executable
        shop = MCPServerStdio({"command": command, "args": [str(tmp_path / "serving.py"), str(log)]}, name="shop")
        seller: Agent[None] = Agent(name="seller", mcp_servers=[shop], model=model(endpoint))
        recorded = record(seller, run)
        there: Any = recorded.mcp_servers[0]
        async with there:
            return str((await Runner.run(recorded, "What does tea cost?")).final_output)

    endpoint.script = [CallTool("price", {"item": "tea"}), "Three."]
    run, again = twice(server, name, work)
    assert again.result == run.result == "Three."
    assert log.read_text() == "tea\n"


def test_what_cannot_be_recorded_is_refused(server: Server, name: str, endpoint: Endpoint, field: quipu.Field) -> None:
    async def work(run: quipu.AsyncRun) -> None:
        known = OpenAIResponsesModel("m", record_client(client(endpoint), run))
        agent: Agent[None] = Agent(name="a", model=known, tools=[WebSearchTool(), price])
        recorded = record(agent)
        assert recorded.model is known
        assert recorded.tools[0] is agent.tools[0]
        assert isinstance(agent.tools[1], FunctionTool)
        assert record(recorded) is recorded
        shell = LocalShellTool(executor=lambda _: "done")
        with pytest.raises(TypeError, match="LocalShellTool"):
            record(Agent(name="a", model=known, tools=[shell]), run)

    twice(server, name, work)
    agent: Agent[None] = Agent(name="a", model=model(endpoint))
    with pytest.raises(ValueError, match="there is no run"):
        record(agent)
    with field.task("blocks"), pytest.raises(TypeError, match="AsyncField"):
        record(agent)
