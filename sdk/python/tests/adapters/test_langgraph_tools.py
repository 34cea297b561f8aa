"""Tools that graphs call: recorded with their model, and called by no replay."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, ToolException, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command, interrupt
from pydantic import BaseModel, SecretStr

import quipu
from quipu.adapters.langgraph import record_tools
from quipu.adapters.openai import async_http_client, http_client

from ..servers import Server
from .endpoint import CallTool, CallTools, Endpoint

CALLED: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_was_called() -> None:
    CALLED.clear()


@tool
def price(item: str) -> str:
    """What something costs."""
    CALLED.append(item)
    return f"{item} costs {len(item)}"


def agent(tools: list[Any], model: Any, *, awaits: bool = False, saver: Any = None, handle: Any = False) -> Any:
    """A model that calls tools until it has an answer."""
    bound = model.bind_tools([it for it in tools if isinstance(it, BaseTool)])

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    async def aask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    building: Any = StateGraph(MessagesState)
    building.add_node("ask", aask if awaits else ask)
    building.add_node("tools", ToolNode(tools, handle_tool_errors=handle))
    building.add_edge(START, "ask")
    building.add_conditional_edges("ask", tools_condition)
    building.add_edge("tools", "ask")
    return building.compile(checkpointer=saver)


def worked(run: quipu.Run, endpoint: Endpoint, tools: list[Any], **options: Any) -> list[str]:
    """What was said, by everybody, in a graph whose model and tools are recorded."""
    with http_client(run) as sending:
        model = _model(endpoint, http_client=sending)
        done = agent(record_tools(tools, run), model, **options).invoke({"messages": [("user", "What does tea cost?")]})
    return [str(message.text) for message in done["messages"]]


def _model(endpoint: Endpoint, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model="m", base_url=endpoint.url, api_key=SecretStr("none"), use_responses_api=True, **options)


def test_a_replay_calls_no_tool(field: quipu.Field, endpoint: Endpoint) -> None:
    endpoint.script = [CallTool("price", {"item": "tea"}), "Three."]
    with field.task("sell") as run:
        run.result = worked(run, endpoint, [price])
    assert run.result[-2:] == ["tea costs 3", "Three."]
    assert CALLED == ["tea"]
    again = field.run_replay(field.replay(run.id).id, lambda it: worked(it, endpoint, [price]))
    assert again.result == run.result
    assert (CALLED, endpoint.calls) == (["tea"], 2)
    assert not again.divergence().diverged
    other = field.replay(run.id, overrides={"tool:price:1": "tea is free"})
    changed = field.run_replay(other.id, lambda it: worked(it, endpoint, [price]))
    assert changed.result[-2:] == ["tea is free", "Three."]
    assert changed.drift == ["llm:main:2"]


def test_tools_that_are_called_at_once_are_told_their_own(field: quipu.Field, endpoint: Endpoint) -> None:
    items = [f"{'x' * number}" for number in range(1, 9)]
    endpoint.script = [CallTools([CallTool("price", {"item": item}) for item in items]), "Done."]
    with field.task("sell") as run:
        run.result = worked(run, endpoint, [price])
    assert run.result[2:-1] == [f"{item} costs {len(item)}" for item in items]
    for _ in range(3):
        again = field.run_replay(field.replay(run.id).id, lambda it: worked(it, endpoint, [price]))
        assert (again.result, again.drift) == (run.result, [])
    assert sorted(CALLED) == items


def test_tools_that_await_are_recorded_too(server: Server, name: str, endpoint: Endpoint) -> None:
    @tool
    async def cost(item: str) -> str:
        """What something costs."""
        CALLED.append(item)
        return f"{item} costs 7"

    async def work(run: quipu.AsyncRun) -> str:
        async with async_http_client(run) as sending:
            model = _model(endpoint, http_async_client=sending)
            graph = agent(record_tools([cost], run), model, awaits=True)
            done = await graph.ainvoke({"messages": [("user", "What does tea cost?")]})
        return str(done["messages"][-1].text)

    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            endpoint.script = [CallTool("cost", {"item": "tea"}), "Seven."]
            async with field.task("sell") as run:
                run.result = await work(run)
            again = await field.run_replay((await field.replay(run.id)).id, work)
            assert again.result == run.result == "Seven."
            assert CALLED == ["tea"]

    asyncio.run(main())


class Query(BaseModel):
    """What is looked for."""

    words: list[str]


def _found(query: Query, state: Annotated[dict[str, Any], InjectedState]) -> tuple[str, dict[str, Any]]:
    """Looks it up."""
    CALLED.append(query)
    return f"{query.words[0]} after {len(state['messages'])}", {"id": 2**70, "share": 1.0}


def _moved(item: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Says it by a command."""
    CALLED.append(item)
    return Command(update={"messages": [ToolMessage(f"moved {item}", tool_call_id=tool_call_id)]})


def _broken(item: str) -> str:
    """Is broken."""
    CALLED.append(item)
    raise ToolException(f"no {item}")


def test_messages_commands_artifacts_and_errors_come_back(field: quipu.Field, endpoint: Endpoint) -> None:
    tools = [
        StructuredTool.from_function(_found, name="found", response_format="content_and_artifact"),
        StructuredTool.from_function(_moved, name="moved"),
        StructuredTool.from_function(_broken, name="broken", handle_tool_error=True),
    ]
    calls = [
        CallTool("found", {"query": {"words": ["tea"]}}),
        CallTool("moved", {"item": "tea"}),
        CallTool("broken", {"item": "tea"}),
    ]

    def work(run: quipu.Run) -> list[Any]:
        with http_client(run) as sending:
            graph = agent(record_tools(tools, run), _model(endpoint, http_client=sending))
            done = graph.invoke({"messages": [("user", "Tea?")]})["messages"]
        return [[it.content, it.artifact, it.status, it.tool_call_id] for it in done if isinstance(it, ToolMessage)]

    endpoint.script = [CallTools(calls), "Done."]
    with field.task("sell") as run:
        run.result = work(run)
    assert ["tea after 2", {"id": 2**70, "share": 1.0}, "success", "call_1_1"] in run.result
    assert [said[0] for said in run.result] == ["tea after 2", "moved tea", "no tea"]
    assert run.result[2][2] == "error"
    again = field.run_replay(field.replay(run.id).id, work)
    assert again.result == run.result
    assert len(CALLED) == 3


def test_an_exception_of_a_tool_is_raised_again(field: quipu.Field, endpoint: Endpoint) -> None:
    broken = StructuredTool.from_function(_broken, name="broken")

    def work(run: quipu.Run) -> str:
        with pytest.raises(ToolException) as raised:
            worked(run, endpoint, [broken])
        return str(raised.value)

    endpoint.script = [CallTool("broken", {"item": "tea"})]
    with field.task("sell") as run:
        run.result = work(run)
    assert field.run_replay(field.replay(run.id).id, work).result == run.result == "no tea"
    assert CALLED == ["tea"]


def test_a_tool_that_asks_a_human_asks_again_and_is_told_the_same(field: quipu.Field, endpoint: Endpoint) -> None:
    @tool
    def order(item: str) -> str:
        """Orders something, if a human agrees."""
        said = interrupt({"order": item})
        CALLED.append(said)
        return f"ordered: {said}"

    def work(run: quipu.Run) -> list[str]:
        with http_client(run) as sending:
            graph = agent(record_tools([order], run), _model(endpoint, http_client=sending), saver=InMemorySaver())
            thread = {"configurable": {"thread_id": "t"}}
            waits = graph.invoke({"messages": [("user", "Tea!")]}, thread)
            done = graph.invoke(Command(resume="yes"), thread)
        return [str(waits["__interrupt__"][0].value), *(str(it.text) for it in done["messages"][2:])]

    endpoint.script = [CallTool("order", {"item": "tea"}), "Done."]
    with field.task("order") as run:
        run.result = work(run)
    assert run.result == ["{'order': 'tea'}", "ordered: yes", "Done."]
    again = field.run_replay(field.replay(run.id).id, work)
    assert (again.result, again.drift) == (run.result, [])
    assert (CALLED, endpoint.calls) == (["yes"], 2)


@pytest.mark.parametrize("handle", [False, True])
def test_a_tool_that_nobody_recorded_is_refused_in_a_replay(
    field: quipu.Field, endpoint: Endpoint, *, handle: bool
) -> None:
    def work(run: quipu.Run) -> str:
        with http_client(run) as sending:
            graph = agent([price], _model(endpoint, http_client=sending), handle=handle)
            done = graph.invoke({"messages": [("user", "Tea?")]})
        return str(done["messages"][-1].text)

    endpoint.script = [CallTool("price", {"item": "tea"}), "Three."]
    with field.task("sell") as run:
        run.result = work(run)
    replay = field.replay(run.id)
    if handle:
        # The graph takes the refusal for a tool that failed, and tells the model so.
        assert field.run_replay(replay.id, work).drift == ["llm:main:2"]
    else:
        with pytest.raises(RuntimeError, match="price is not recorded"):
            field.run_replay(replay.id, work)
    assert CALLED == ["tea"]


def test_a_tool_of_the_other_kind_of_run_is_refused_and_functions_become_tools(
    field: quipu.Field, server: Server, name: str
) -> None:
    def double(number: int) -> int:
        """Twice as many."""
        CALLED.append(number)
        return 2 * number

    async def wait(number: int) -> int:
        """As many."""
        return number

    with field.task("count") as run:
        (doubled,) = record_tools([double])
        assert doubled.invoke({"number": 4}) == asyncio.run(doubled.ainvoke({"number": 4})) == 8
        (waiting,) = record_tools([wait])
        with pytest.raises(TypeError, match="AsyncField"):
            asyncio.run(waiting.ainvoke({"number": 4}))
    with field.replaying(field.replay(run.id).id):
        (doubled,) = record_tools([double, {"type": "web_search"}])[:1]
        assert doubled.invoke({"number": 4}) == 8

    async def within() -> None:
        async with quipu.AsyncField(server.url, field=name) as other, other.task("count"):
            (doubled,) = record_tools([double])
            assert await doubled.ainvoke({"number": 5}) == 10
            with pytest.raises(TypeError, match="ainvoke"):
                doubled.invoke({"number": 5})

    asyncio.run(within())
    assert CALLED == [4, 4, 5]
    with pytest.raises(ValueError, match="there is no run"):
        record_tools([double])
