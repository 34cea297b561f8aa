"""Runs of the libraries that go on after their worker was lost: models, tools, threads and conversations."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled

import quipu
from quipu.adapters.langgraph import QuipuSaver
from quipu.adapters.openai import record as record_openai
from quipu.adapters.openai_agents import QuipuSession, record

from ..servers import Server
from .endpoint import CallTool, Endpoint, Fail
from .test_clients import chat, chat_stream, plain
from .test_langgraph_saver import pricing, thread


class Gone(BaseException):
    """The worker is gone."""


def test_clients_are_not_asked_again(field: quipu.Field, endpoint: Endpoint) -> None:
    def work(run: quipu.Run, *, dies: bool = False) -> list[Any]:
        told = [plain(chat(endpoint, run)), plain(chat_stream(endpoint, run))]
        if dies:
            run.leave()
            raise Gone
        return [*told, plain(chat(endpoint, run))]

    endpoint.script = [Fail(500), "first", "second one", "third"]
    with pytest.raises(Gone), field.task("ask") as run:
        work(run, dies=True)
    assert endpoint.calls == 3
    with field.resume(run.id) as again:
        again.result = work(again)
    assert endpoint.calls == 4
    assert "third" in str(again.result[2])
    assert field.run_replay(field.replay(run.id).id, work).result == again.result


def test_a_call_that_is_made_again_has_the_same_key(field: quipu.Field, endpoint: Endpoint) -> None:
    seen: list[str] = []

    def note(request: Any) -> None:
        seen.append(request.headers["idempotency-key"])

    def ask(run: quipu.Run) -> None:
        with openai.DefaultHttpxClient(event_hooks={"request": [note]}) as http:
            client = openai.OpenAI(base_url=endpoint.url, api_key="none", http_client=http)
            record_openai(client, run).responses.create(model="m", input="?")

    with field.task("ask") as run:
        original = run._core.keep  # noqa: SLF001

        def gone(*_: Any, **__: Any) -> Any:
            run.leave()
            raise Gone

        run._core.keep = gone  # type: ignore[method-assign]  # noqa: SLF001
        with pytest.raises(Gone):
            ask(run)
        assert original is not gone
    with field.resume(run.id) as again:
        ask(again)
    with field.task("another") as other:
        ask(other)
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


def test_a_graph_goes_on_where_its_thread_was(field: quipu.Field, endpoint: Endpoint) -> None:
    saver = QuipuSaver(field)
    session = saver.session_of("t")
    endpoint.script = ["sell", "buy", "seven"]
    with field.task("before", session=session) as before:
        before.result = pricing(saver, endpoint).invoke({"said": ["in"]}, thread("t"))["said"]
    with field.task("price", session=session) as run:
        graph = pricing(saver, endpoint)
        list(graph.stream({"said": ["again"]}, thread("t"), interrupt_after=["decide"]))
        run.leave()
    assert endpoint.calls == 2
    other = QuipuSaver(field)
    with field.resume(run.id) as resumed:
        resumed.result = pricing(other, endpoint).invoke({"said": ["again"]}, thread("t"))["said"]
    assert resumed.result == ["in", "sell", "sold", "again", "buy", "seven"]
    assert endpoint.calls == 3
    third = QuipuSaver(field)
    assert pricing(third, endpoint).get_state(thread("t")).values["said"] == resumed.result

    def work(_run: quipu.Run) -> Any:
        return pricing(third, endpoint).invoke({"said": ["again"]}, thread("t"))["said"]

    assert field.run_replay(field.replay(run.id).id, work).result == resumed.result
    assert endpoint.calls == 3


def test_a_conversation_is_not_told_twice(server: Server, name: str, endpoint: Endpoint) -> None:
    called: list[str] = []

    @function_tool
    def price(item: str) -> str:
        """What something costs."""
        called.append(item)
        return f"{item} costs 7"

    async def work(run: quipu.AsyncRun, session: QuipuSession, *, dies: bool = False) -> str:
        async with openai.AsyncOpenAI(base_url=endpoint.url, api_key="none") as client:
            seller: Agent[None] = Agent(name="seller", tools=[price], model=OpenAIResponsesModel("m", client))
            recorded = record(seller, run)
            await session.clear_session()
            await Runner.run(recorded, "What does tea cost?", session=session)
            if dies:
                run.leave()
                raise Gone
            return str((await Runner.run(recorded, "And coffee?", session=session)).final_output)

    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            endpoint.script = [CallTool("price", {"item": "tea"}), "Seven.", "Nine."]
            session = QuipuSession("shop", field)
            await session.add_items([{"role": "user", "content": "of yesterday"}])
            with pytest.raises(Gone):
                async with field.task("sell") as run:
                    await work(run, session, dies=True)
            async with field.resume(run.id) as again:
                again.result = await work(again, QuipuSession("shop", field))
            assert (again.result, called, endpoint.calls) == ("Nine.", ["tea"], 3)
            items: list[Any] = list(await session.get_items())
            kinds = [item.get("role") or item["type"] for item in items]
            assert kinds == ["user", "function_call", "function_call_output", "assistant", "user", "assistant"]

    set_tracing_disabled(True)
    asyncio.run(main())
    set_tracing_disabled(False)
