"""The OpenAI Agents SDK: conversations as Sessions, and runs of agents that replay."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import openai
import pytest
from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from agents.memory import Session, SessionSettings

import quipu
from quipu.adapters.openai import record
from quipu.adapters.openai_agents import QuipuSession

from ..servers import Server
from .endpoint import CallTool, Endpoint


@pytest.fixture(autouse=True)
def _no_tracing() -> Iterator[None]:
    # It would send what is said to the vendor.
    set_tracing_disabled(True)
    yield
    set_tracing_disabled(False)


def within(server: Server, name: str, do: Callable[[quipu.AsyncField], Awaitable[None]]) -> None:
    """Runs it in an event loop, with a Field."""

    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            await do(field)

    asyncio.run(main())


def says(text: str, role: str = "user") -> Any:
    return {"role": role, "content": text}


async def check_contract(one: QuipuSession, same: QuipuSession, other: QuipuSession) -> None:
    """What the SDK asks of a session."""
    assert isinstance(one, Session)
    assert await one.get_items() == []
    assert await one.pop_item() is None
    await one.clear_session()
    await one.add_items([])
    call = {"type": "function_call", "call_id": "c", "name": "price", "arguments": '{"n": 1}'}
    result = {"type": "function_call_output", "call_id": "c", "output": "7"}
    items = [says("hello"), call, result, says("goodbye", "assistant"), says("be kind", "developer")]
    await one.add_items(items)
    assert await same.get_items() == items
    assert await same.get_items(limit=2) == items[-2:]
    assert await same.get_items(limit=0) == []
    assert await same.get_items(limit=99) == items
    assert await other.get_items() == []
    assert await one.pop_item() == items[-1]
    await same.add_items([says("again")])
    assert await one.get_items() == [*items[:-1], says("again")]
    await one.clear_session()
    assert await same.get_items() == []
    await same.add_items([says("anew")])
    assert await one.get_items() == [says("anew")]


def test_a_session_does_what_the_library_asks_of_one(server: Server, name: str) -> None:
    async def do(field: quipu.AsyncField) -> None:
        await check_contract(QuipuSession("a/b", field), QuipuSession("a/b", field), QuipuSession("c", field))

    within(server, name, do)
    with quipu.Field(server.url, field=f"{name}-b") as field:
        asyncio.run(check_contract(QuipuSession("a", field), QuipuSession("a", field), QuipuSession("c", field)))


def test_a_long_conversation_is_read_whole_or_as_far_as_the_settings_say(server: Server, name: str) -> None:
    async def do(field: quipu.AsyncField) -> None:
        await QuipuSession("long", field).add_items([says(str(number)) for number in range(205)])
        whole: list[Any] = list(await QuipuSession("long", field).get_items())
        assert [item["content"] for item in whole] == [str(number) for number in range(205)]
        short = QuipuSession("long", field, session_settings=SessionSettings(limit=3))
        last: list[Any] = list(await short.get_items())
        assert [item["content"] for item in last] == ["202", "203", "204"]

    within(server, name, do)


def test_a_conversation_survives_a_killed_server_and_is_a_transcript_for_all(own_server: Server) -> None:
    async def talk(field: quipu.AsyncField) -> None:
        await QuipuSession("s", field).add_items([says("hello")])

    async def read(field: quipu.AsyncField) -> None:
        assert await QuipuSession("s", field).get_items() == [says("hello")]
        assert (await field.agent("openai-agents").session("get", "s")).status == "ok"

    within(own_server, "default", talk)
    own_server.kill()
    own_server.start()
    within(own_server, "default", read)


def test_an_agent_remembers_and_its_run_replays_without_a_call(server: Server, name: str, endpoint: Endpoint) -> None:
    @function_tool
    def price(item: str) -> str:
        """What something costs."""
        return f"{item} costs 7"

    async def work(run: quipu.AsyncRun, session: QuipuSession) -> str:
        async with openai.AsyncOpenAI(base_url=endpoint.url, api_key="none") as client:
            model = OpenAIResponsesModel("m", record(client, run))
            seller = Agent(name="seller", instructions="Sell tea.", tools=[price], model=model)
            await Runner.run(seller, "What does tea cost?", session=session)
            return str((await Runner.run(seller, "And coffee?", session=session)).final_output)

    async def do(field: quipu.AsyncField) -> None:
        endpoint.script = [CallTool("price", {"item": "tea"}), "Seven.", "Nine."]
        session = QuipuSession("shop", field)
        async with field.task("sell") as run:
            run.result = await work(run, session)
        assert run.result == "Nine."
        items: list[Any] = list(await session.get_items())
        kinds = [item.get("role") or item["type"] for item in items]
        assert kinds == ["user", "function_call", "function_call_output", "assistant", "user", "assistant"]
        # The second question came with the whole conversation before it.
        assert [item.get("output") for item in endpoint.asked[2][1]["input"]][2] == "tea costs 7"
        calls = endpoint.calls

        replay = await field.replay(run.id, overrides={"llm:main:3": "We have none."})
        again = await field.run_replay(replay.id, lambda run: work(run, session))
        assert again.result == "We have none."
        assert again.drift == []
        assert endpoint.calls == calls
        assert await session.get_items() == items

    within(server, name, do)
