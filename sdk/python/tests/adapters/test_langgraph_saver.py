"""LangGraph's checkpoints on a Field: the library's own conformance suite, graphs that resume, and runs that replay."""

from __future__ import annotations

import asyncio
import operator
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypedDict

import openai
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

import quipu
from quipu.adapters.langgraph import QuipuSaver
from quipu.adapters.openai import record

from ..servers import Server
from .endpoint import Endpoint


class State(TypedDict, total=False):
    said: Annotated[list[str], operator.add]


# Its types know no node that returns a part of the state.
Graph = Any


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def test_the_librarys_conformance_suite_passes_in_full(server: Server, name: str) -> None:
    @checkpointer_test(name="QuipuSaver")
    async def saver() -> AsyncGenerator[BaseCheckpointSaver[str], None]:
        async with quipu.AsyncField(server.url, field=name) as field:
            yield QuipuSaver(field)

    report = asyncio.run(validate(saver))
    said = {name: (result.passed, result.failures) for name, result in report.results.items()}
    assert said == {capability.value: (True, []) for capability in Capability}


def asking(saver: QuipuSaver) -> Graph:
    """Says something, asks a human, says the answer."""

    def begin(_state: State) -> State:
        return {"said": ["begun"]}

    def ask(_state: State) -> State:
        return {"said": [str(interrupt("Go on?"))]}

    building: Any = StateGraph(State)
    building.add_node("begin", begin)
    building.add_node("ask", ask)
    building.add_edge(START, "begin")
    building.add_edge("begin", "ask")
    building.add_edge("ask", END)
    return building.compile(checkpointer=saver)


def test_a_graph_that_waits_goes_on_after_everything_was_restarted(own_server: Server) -> None:
    with quipu.Field(own_server.url) as field:
        waiting = asking(QuipuSaver(field)).invoke({"said": ["in"]}, thread("t"))
        assert waiting["__interrupt__"][0].value == "Go on?"
    own_server.kill()
    own_server.start()
    with quipu.Field(own_server.url) as field:
        graph = asking(QuipuSaver(field))
        assert graph.get_state(thread("t")).next == ("ask",)
        assert graph.invoke(Command(resume="yes"), thread("t"))["said"] == ["in", "begun", "yes"]
        assert graph.get_state(thread("other")).values == {}


def test_a_graph_that_awaits_goes_on_too(server: Server, name: str) -> None:
    async def main() -> list[str]:
        async with quipu.AsyncField(server.url, field=name) as field:
            await asking(QuipuSaver(field)).ainvoke({"said": ["in"]}, thread("t"))
            done = await asking(QuipuSaver(field)).ainvoke(Command(resume="yes"), thread("t"))
            return list(done["said"])

    assert asyncio.run(main()) == ["in", "begun", "yes"]


def test_what_a_node_did_before_another_failed_is_not_done_again(field: quipu.Field) -> None:
    done: list[str] = []

    def good(_state: State) -> State:
        done.append("good")
        return {"said": ["good"]}

    def bad(_state: State) -> State:
        done.append("bad")
        if done.count("bad") == 1:
            raise RuntimeError("not yet")
        return {"said": ["bad"]}

    building: Any = StateGraph(State)
    building.add_node("good", good)
    building.add_node("bad", bad)
    building.add_edge(START, "good")
    building.add_edge(START, "bad")
    with pytest.raises(RuntimeError, match="not yet"):
        building.compile(checkpointer=QuipuSaver(field)).invoke({"said": ["in"]}, thread("t"))
    again = building.compile(checkpointer=QuipuSaver(field)).invoke(None, thread("t"))
    assert sorted(again["said"]) == ["bad", "good", "in"]
    assert sorted(done) == ["bad", "bad", "good"]


def test_history_is_kept_and_can_be_branched_from(field: quipu.Field) -> None:
    graph = asking(QuipuSaver(field))
    graph.invoke({"said": ["in"]}, thread("t"))
    graph.invoke(Command(resume="yes"), thread("t"))
    states = list(graph.get_state_history(thread("t")))
    assert [state.values.get("said") for state in states] == [["in", "begun", "yes"], ["in", "begun"], ["in"], []]
    branch = graph.update_state(states[1].config, {"said": ["changed"]}, as_node="begin")
    assert graph.invoke(None, branch)["__interrupt__"]
    assert graph.invoke(Command(resume="no"), thread("t"))["said"] == ["in", "begun", "changed", "no"]
    assert graph.get_state(states[0].config).values["said"] == ["in", "begun", "yes"]


def test_a_graph_within_a_graph_has_its_own_checkpoints(field: quipu.Field) -> None:
    saver = QuipuSaver(field)
    outer: Any = StateGraph(State)
    outer.add_node("inner", asking(saver))
    outer.add_edge(START, "inner")
    graph = outer.compile(checkpointer=saver)
    assert graph.invoke({"said": ["in"]}, thread("t"))["__interrupt__"]
    again = outer.compile(checkpointer=QuipuSaver(field))
    assert again.get_state(thread("t"), subgraphs=True).tasks[0].state is not None
    assert again.invoke(Command(resume="yes"), thread("t"))["said"][-1] == "yes"


def test_a_state_larger_than_a_request_is_kept_in_parts(field: quipu.Field) -> None:
    building: Any = StateGraph(State)
    building.add_node("grow", lambda _state: {"said": ["x" * 5_000_000]})
    building.add_edge(START, "grow")
    building.compile(checkpointer=QuipuSaver(field)).invoke({"said": ["in"]}, thread("t"))
    kept = building.compile(checkpointer=QuipuSaver(field)).get_state(thread("t")).values["said"]
    assert [len(text) for text in kept] == [2, 5_000_000]


def test_what_somebody_else_tells_under_our_names_breaks_nothing(field: quipu.Field) -> None:
    saver = QuipuSaver(field)
    with field.task("meddle", session=saver.session_of("t")) as run:
        run.event("vendor.langgraph.checkpoint", {"nonsense": 1})
        run.event("vendor.langgraph.part", {"whole": "w", "number": 7, "of": 9, "text": "{"})
    assert asking(saver).invoke({"said": ["in"]}, thread("t"))["__interrupt__"]


def test_a_finished_thread_has_a_receipt_and_can_go_on(field: quipu.Field) -> None:
    saver = QuipuSaver(field)
    graph = asking(saver)
    graph.invoke({"said": ["in"]}, thread("t"))
    first = saver.finish("t", "asked a human", {"waits": True})
    assert first.status == "COMPLETED"
    assert first.receipt_id is not None
    assert field.verify(first.receipt_id).valid
    assert graph.invoke(Command(resume="yes"), thread("t"))["said"] == ["in", "begun", "yes"]
    second = saver.finish("t", "was told", None)
    assert second.id != first.id


def test_a_server_that_is_killed_between_two_steps_loses_nothing(own_server: Server) -> None:
    def begin(_state: State) -> State:
        own_server.kill()
        threading.Thread(target=own_server.start).start()
        return {"said": ["begun"]}

    building: Any = StateGraph(State)
    building.add_node("begin", begin)
    building.add_node("end", lambda _state: {"said": ["ended"]})
    building.add_edge(START, "begin")
    building.add_edge("begin", "end")
    with quipu.Field(own_server.url) as field:
        graph = building.compile(checkpointer=QuipuSaver(field))
        assert graph.invoke({"said": ["in"]}, thread("t"))["said"] == ["in", "begun", "ended"]
        steps = [(state.metadata or {})["step"] for state in graph.get_state_history(thread("t"))]
        assert steps == [2, 1, 0, -1]


def test_many_threads_of_graphs_work_side_by_side(field: quipu.Field) -> None:
    saver = QuipuSaver(field)
    graph = asking(saver)

    def converse(number: int) -> list[str]:
        graph.invoke({"said": [str(number)]}, thread(f"t-{number % 4}-{number}"))
        return list(graph.invoke(Command(resume="yes"), thread(f"t-{number % 4}-{number}"))["said"])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(converse, range(8))) == [[str(number), "begun", "yes"] for number in range(8)]
    assert len({it.config["configurable"]["thread_id"] for it in saver.list(None)}) == 8


def pricing(saver: QuipuSaver, endpoint: Endpoint) -> Graph:
    """Asks a model which way to go, and then again."""

    def say(question: str) -> str:
        with openai.OpenAI(base_url=endpoint.url, api_key="none") as client:
            return record(client).responses.create(model="m", input=question).output_text

    def decide(state: State) -> State:
        return {"said": [say(f"After {state['said']}: buy or sell?")]}

    def buy(_state: State) -> State:
        return {"said": [say("How many to buy?")]}

    def sell(_state: State) -> State:
        return {"said": ["sold"]}

    building: Any = StateGraph(State)
    building.add_node("decide", decide)
    building.add_node("buy", buy)
    building.add_node("sell", sell)
    building.add_edge(START, "decide")
    building.add_conditional_edges("decide", lambda state: state["said"][-1], ["buy", "sell"])
    return building.compile(checkpointer=saver)


def test_a_run_of_a_graph_replays_from_where_it_began_and_writes_nothing(
    field: quipu.Field, endpoint: Endpoint
) -> None:
    saver = QuipuSaver(field)
    session = saver.session_of("t")
    endpoint.script = ["sell", "buy", "seven"]

    def work(_run: quipu.Run) -> Any:
        return pricing(saver, endpoint).invoke({"said": ["in"]}, thread("t"))["said"]

    runs: list[quipu.Run] = []
    for title in ("first", "second"):
        with field.task(title, session=session) as run:
            run.result = work(run)
        runs.append(run)
    assert runs[1].result == ["in", "sell", "sold", "in", "buy", "seven"]
    calls, before = endpoint.calls, len(list(saver.list(thread("t"))))

    again = field.run_replay(field.replay(runs[1].id).id, work)
    assert again.result == runs[1].result
    assert not again.divergence().diverged

    other = field.run_replay(field.replay(runs[1].id, overrides={"llm:main:1": "sell"}).id, work)
    assert other.result == ["in", "sell", "sold", "in", "sell", "sold"]
    assert other.divergence().output.source[-2:] == ["buy", "seven"]

    assert endpoint.calls == calls
    assert len(list(saver.list(thread("t")))) == before
    assert pricing(saver, endpoint).get_state(thread("t")).values["said"] == runs[1].result


def test_the_task_of_a_run_tells_of_steps_and_answers_and_can_be_replayed_from_a_step(
    field: quipu.Field, endpoint: Endpoint
) -> None:
    saver = QuipuSaver(field)
    endpoint.script = ["buy", "seven"]
    with field.task("price", session=saver.session_of("t")) as run:
        run.result = pricing(saver, endpoint).invoke({"said": ["in"]}, thread("t"))["said"]
    events = field.events(run.id)
    told = [event.event for event in events]
    assert told.count("vendor.dependency.recorded") == 2
    assert told.count("vendor.langgraph.checkpoint") == 4
    steps = [event.payload["step"] for event in events if event.event == "vendor.langgraph.checkpoint"]
    assert steps == [-1, 0, 1, 2]
    boundaries = [it.payload["checkpoint_id"] for it in events if it.event == "vendor.checkpoint.created"]
    replay = field.replay(run.id, checkpoint_id=boundaries[2], executor="in_process")
    assert field.wait(replay.id).status == "COMPLETED"
