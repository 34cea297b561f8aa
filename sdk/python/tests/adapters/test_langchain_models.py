"""LangChain's models in the nodes of a graph, recorded by the HTTP client that they are given."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import SecretStr

import quipu
from quipu.adapters.langgraph import QuipuSaver
from quipu.adapters.openai import async_http_client, http_client

from ..servers import Server
from .endpoint import Endpoint


def chatting(saver: QuipuSaver, model: ChatOpenAI) -> Any:
    """Says what the model says to all that was said."""

    def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    async def aanswer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    building: Any = StateGraph(MessagesState)
    building.add_node("answer", answer if model.http_async_client is None else aanswer)
    building.add_edge(START, "answer")
    return building.compile(checkpointer=saver)


THREAD = {"configurable": {"thread_id": "t"}}


def test_a_conversation_goes_on_and_its_last_turn_replays(field: quipu.Field, endpoint: Endpoint) -> None:
    saver = QuipuSaver(field)
    endpoint.script = ["Hello.", "Tea costs seven."]

    def turn(run: quipu.Run, said: str) -> list[str]:
        with http_client(run) as sending:
            model = ChatOpenAI(model="m", base_url=endpoint.url, api_key=SecretStr("none"), http_client=sending)
            done = chatting(saver, model).invoke({"messages": [("user", said)]}, THREAD)
        return [str(message.content) for message in done["messages"]]

    for said in ("Hi!", "What does tea cost?"):
        with field.task(said, session=saver.session_of("t")) as run:
            run.result = turn(run, said)
    assert run.result == ["Hi!", "Hello.", "What does tea cost?", "Tea costs seven."]
    replay = field.replay(run.id, overrides={"llm:main:1": "It is free."})
    again = field.run_replay(replay.id, lambda it: turn(it, "What does tea cost?"))
    assert again.result == ["Hi!", "Hello.", "What does tea cost?", "It is free."]
    assert again.drift == []
    assert endpoint.calls == 2


def test_what_awaits_is_recorded_too(server: Server, name: str, endpoint: Endpoint) -> None:
    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            saver = QuipuSaver(field)

            async def turn(run: quipu.AsyncRun) -> str:
                async with async_http_client(run) as sending:
                    model = ChatOpenAI(
                        model="m", base_url=endpoint.url, api_key=SecretStr("none"), http_async_client=sending
                    )
                    done = await chatting(saver, model).ainvoke({"messages": [("user", "Hi!")]}, THREAD)
                return str(done["messages"][-1].content)

            async with field.task("chat", session=await saver.asession_of("t")) as run:
                run.result = await turn(run)
            again = await field.run_replay((await field.replay(run.id)).id, turn)
            assert again.result == run.result == "answer number 1"
            assert endpoint.calls == 1

    asyncio.run(main())
