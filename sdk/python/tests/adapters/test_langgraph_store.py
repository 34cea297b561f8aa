"""LangGraph's store on a Field: as any store to a graph, as shared memory to everybody else."""

from __future__ import annotations

import asyncio
import random
import threading
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, Item
from langgraph.store.memory import InMemoryStore

import quipu
from quipu.adapters.langgraph import QuipuStore, _store_core

from ..servers import Server

USER = ("users", "u1")


def test_an_item_is_there_until_it_is_deleted(field: quipu.Field) -> None:
    store = QuipuStore(field)
    assert store.get(USER, "food") is None
    store.put(USER, "food", {"text": "likes pizza", "times": 3, "often": True, "since": None, "ratio": 1.0})
    first = store.get(USER, "food")
    assert first is not None
    assert first.value == {"text": "likes pizza", "times": 3, "often": True, "since": None, "ratio": 1.0}
    assert (first.namespace, first.key) == (USER, "food")
    store.put(USER, "food", {"text": "likes pasta"})
    second = store.get(USER, "food")
    assert second is not None
    assert second.value == {"text": "likes pasta"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    store.delete(USER, "food")
    assert store.get(USER, "food") is None
    store.delete(USER, "food")
    store.put(USER, "food", {"text": "fasts"})
    third = store.get(USER, "food")
    assert third is not None
    assert third.created_at > first.created_at


def test_other_agents_find_items_by_attune_with_their_intent(field: quipu.Field) -> None:
    store = QuipuStore(field, purpose=lambda namespace, key, _value: f"Know the {key} of {namespace[-1]}")
    cook = field.agent("cook", role="cook")
    store.put(USER, "food", {"text": "likes pizza with anchovies"})
    (shown,) = cook.attune("what to cook").record
    assert shown.memory_unit.content == "likes pizza with anchovies"
    assert shown.memory_unit.intent is not None
    assert shown.memory_unit.intent.purpose == "Know the food of u1"
    store.put(USER, "food", {"text": "eats no fish any more"})
    (now,) = cook.attune("what to cook").record
    assert now.memory_unit.content == "eats no fish any more"
    assert [it.type for it in now.memory_unit.relations] == ["supersedes"]
    assert cook.unit(shown.memory_unit.id).status == "superseded"
    store.delete(USER, "food")
    assert cook.attune("what to cook").record == []
    assert cook.unit(now.memory_unit.id).status == "retracted"


def test_what_others_record_is_no_item(field: quipu.Field) -> None:
    store = QuipuStore(field)
    ana = field.agent("ana", role="analyst")
    ana.record("u1 likes pizza", purpose="Note it", confidence=0.9, reasoning="heard", evidence=["quipu.store:{"])
    assert store.search((), query="pizza") == []
    assert store.list_namespaces() == []


def test_a_search_ranks_filters_and_keeps_to_its_namespace(field: quipu.Field) -> None:
    store = QuipuStore(field)
    store.put(USER, "food", {"text": "likes pizza and pasta", "kind": "taste", "weight": 5})
    store.put(USER, "colour", {"text": "paints every wall blue", "kind": "taste", "weight": 2})
    store.put(USER, "home", {"text": "lives in Lisbon by the harbour", "kind": "fact", "weight": 9})
    store.put(("users", "u2"), "food", {"text": "likes pizza", "kind": "taste", "weight": 1})
    found = store.search(USER, query="Which Italian food is liked?")
    assert found[0].key == "food"
    assert {item.namespace for item in found} == {USER}
    assert all(item.score is not None for item in found)
    assert [item.key for item in store.search(USER, filter={"weight": {"$gte": 5}, "kind": "fact"})] == ["home"]
    assert store.search(USER, filter={"weight": {"$gt": 9}}) == []
    assert {item.key for item in store.search(USER, filter={"kind": {"$ne": "fact"}})} == {"food", "colour"}
    assert store.search(("user",)) == []
    with pytest.raises(ValueError, match="no operator"):
        store.search(USER, filter={"weight": {"$near": 5}})


def test_pages_of_a_search_have_everything_once(field: quipu.Field) -> None:
    store = QuipuStore(field)
    for number in range(25):
        store.put(USER, f"note-{number}", {"text": f"note number {number}"})
    pages = [store.search(("users",), limit=10, offset=start) for start in (0, 10, 20, 30)]
    assert [len(page) for page in pages] == [10, 10, 5, 0]
    assert len({item.key for page in pages for item in page}) == 25


def test_only_the_chosen_fields_are_searched(field: quipu.Field) -> None:
    store = QuipuStore(field)
    store.put(USER, "letter", {"subject": "harbour fees", "body": "about zebras"}, index=["subject"])
    store.put(USER, "secret", {"text": "harbour fees in secret"}, index=False)
    reader = field.agent("reader", role="reader")
    contents = {shown.memory_unit.content for shown in reader.attune("harbour").record}
    assert contents == {"harbour fees", "users/u1: secret"}
    assert [item.key for item in store.search(USER, query="harbour fees")] == ["letter"]
    kept = store.get(USER, "secret")
    assert kept is not None
    assert kept.value == {"text": "harbour fees in secret"}


def test_what_one_process_puts_or_deletes_every_other_knows(server: Server, name: str) -> None:
    with quipu.Field(server.url, field=name) as here, quipu.Field(server.url, field=name) as there:
        one, two = QuipuStore(here), QuipuStore(there)
        assert two.list_namespaces() == []
        one.put(USER, "food", {"text": "pizza"})
        seen = two.get(USER, "food")
        assert seen is not None
        assert seen.value == {"text": "pizza"}
        two.put(USER, "food", {"text": "pasta"})
        again = one.get(USER, "food")
        assert again is not None
        assert again.value == {"text": "pasta"}
        one.delete(USER, "food")
        assert two.get(USER, "food") is None
        assert two.search(USER) == []
        assert two.list_namespaces() == []


def test_of_puts_at_once_one_counts_and_all_agree(server: Server, name: str) -> None:
    with quipu.Field(server.url, field=name) as field:
        stores = [QuipuStore(field) for _ in range(4)]
        together = threading.Barrier(len(stores))

        def put(number: int) -> None:
            together.wait(timeout=60)
            stores[number].put(USER, "food", {"text": f"choice {number}"})

        threads = [threading.Thread(target=put, args=(number,)) for number in range(len(stores))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        values = [item.value for item in (store.get(USER, "food") for store in stores) if item is not None]
        assert len(values) == 4
        assert all(value == values[0] for value in values)
        assert [item.value for item in stores[0].search(USER)] == values[:1]
        stores[1].delete(USER, "food")
        assert [store.get(USER, "food") for store in stores] == [None] * 4


def test_items_survive_a_killed_server(own_server: Server) -> None:
    with quipu.Field(own_server.url) as field:
        QuipuStore(field).put(USER, "food", {"text": "pizza"})
        own_server.kill()
        own_server.start()
        kept = QuipuStore(field).get(USER, "food")
        assert kept is not None
        assert kept.value == {"text": "pizza"}


def test_large_and_strange_values_come_back_as_they_were(field: quipu.Field) -> None:
    store = QuipuStore(field)
    value: dict[str, Any] = {"text": "ß🧶" * 40_000, "nested": {"list": [1, [2, {"three": None}]], "": "empty name"}}
    namespace = ("naïve", "a b", "日本")
    store.put(namespace, "key with spaces/and a slash" + "x" * 300, value)
    kept = QuipuStore(field).get(namespace, "key with spaces/and a slash" + "x" * 300)
    assert kept is not None
    assert kept.value == value
    with pytest.raises(quipu.InvalidRequest):
        store.put(USER, "nan", {"number": float("nan")})
    with pytest.raises(NotImplementedError):
        store.put(USER, "short-lived", {"text": "gone soon"}, ttl=1)


def test_a_field_with_more_units_than_one_answer_has_is_read_in_pages(
    field: quipu.Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_store_core, "_UNITS_MAX", 5)
    writing = QuipuStore(field)
    for number in range(12):
        writing.put(("notes", str(number % 3)), f"note-{number}", {"text": f"note number {number}"})
    writing.delete(("notes", "0"), "note-0")
    reading = QuipuStore(field)
    assert reading.get(("notes", "0"), "note-0") is None
    kept = reading.get(("notes", "1"), "note-1")
    assert kept is not None
    assert kept.value == {"text": "note number 1"}
    assert reading.list_namespaces(prefix=("notes",)) == [("notes", "0"), ("notes", "1"), ("notes", "2")]


class Model:
    """The library's own store beside ours: whatever is done to both, both must say."""

    def __init__(self, ours: BaseStore) -> None:
        self.ours = ours
        self.theirs = InMemoryStore()

    def both(self, do: str, *args: Any, **kwargs: Any) -> None:
        # The library's own also lists namespaces that hold nothing.
        held = self.theirs._data  # noqa: SLF001
        for empty in [namespace for namespace, items in held.items() if not items]:
            del held[empty]
        ours = getattr(self.ours, do)(*args, **kwargs)
        theirs = getattr(self.theirs, do)(*args, **kwargs)
        assert self.plain(ours) == self.plain(theirs), (do, args, kwargs)

    def plain(self, found: Any) -> Any:
        if isinstance(found, Item):
            return (found.namespace, found.key, found.value)
        if isinstance(found, list) and found and isinstance(found[0], Item):
            return sorted((self.plain(item) for item in found), key=repr)
        return found


@pytest.mark.parametrize("seed", range(3))
def test_it_says_what_the_librarys_own_store_says(field: quipu.Field, seed: int) -> None:
    draw = random.Random(seed)
    model = Model(QuipuStore(field))
    namespaces = [("a",), ("a", "b"), ("a", "b", "c"), ("x", "b"), ("x",)]
    for step in range(40):
        namespace, key = draw.choice(namespaces), draw.choice("klm")
        match draw.randrange(6):
            case 0 | 1 | 2:
                model.both(
                    "put", namespace, key, {"text": f"step {step}", "n": draw.randrange(4), "odd": step % 2 == 1}
                )
            case 3:
                model.both("delete", namespace, key)
            case 4:
                conditions = draw.choice([None, {"n": 2}, {"n": {"$gt": 1}}, {"odd": True, "n": {"$lte": 2}}])
                model.both("search", draw.choice([(), *namespaces]), filter=conditions, limit=100)
            case _:
                how: dict[str, Any] = draw.choice(
                    [{}, {"max_depth": 1}, {"prefix": ("a",)}, {"suffix": ("b",)}, {"prefix": ("*", "b")}]
                )
                model.both("list_namespaces", **how)
        model.both("get", namespace, key)


def test_it_is_awaited_over_either_kind_of_field(server: Server, name: str) -> None:
    async def main(store: QuipuStore, key: str) -> None:
        await store.aput(USER, key, {"text": "likes pizza"})
        item = await store.aget(USER, key)
        assert item is not None
        assert item.value == {"text": "likes pizza"}
        assert key in [found.key for found in await store.asearch(USER, query="pizza")]
        assert await store.alist_namespaces() == [USER]
        await store.adelete(USER, key)
        assert await store.aget(USER, key) is None

    async def awaited() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            store = QuipuStore(field)
            await main(store, "awaited")
            with pytest.raises(RuntimeError, match="AsyncField"):
                store.get(USER, "awaited")

    asyncio.run(awaited())
    with quipu.Field(server.url, field=name) as field:
        asyncio.run(main(QuipuStore(field), "in a thread"))


class State(TypedDict):
    said: str


def test_a_graph_remembers_across_threads(field: quipu.Field) -> None:
    def node(state: State, *, store: BaseStore) -> State:
        known = store.search(USER, query=state["said"])
        store.put(USER, f"said-{len(known)}", {"text": state["said"]})
        return {"said": " | ".join(item.value["text"] for item in known) or "nothing yet"}

    building: Any = StateGraph(State)
    building.add_node("remember", node)
    building.add_edge(START, "remember")
    building.add_edge("remember", END)
    graph = building.compile(store=QuipuStore(field))
    assert graph.invoke({"said": "I like pizza"})["said"] == "nothing yet"
    assert graph.invoke({"said": "what do I like"})["said"] == "I like pizza"


def test_in_a_replay_the_store_says_what_it_said_and_keeps_nothing(field: quipu.Field) -> None:
    store = QuipuStore(field)
    store.put(USER, "food", {"text": "likes pizza"})

    def work(_run: quipu.Run) -> list[Any]:
        found = store.search(USER, query="food")
        seen = store.get(USER, "food")
        assert seen is not None
        store.put(USER, "food", {"text": f"{seen.value['text']}, again"})
        there = store.get(USER, "nothing")
        return [[item.value for item in found], seen.value, store.list_namespaces(), there, seen.updated_at]

    with field.task("cook") as run:
        run.result = work(run)
    store.put(USER, "food", {"text": "likes nothing now"})
    units = field.status().units
    again = field.run_replay(field.replay(run.id).id, work)
    assert again.result == run.result
    assert not again.divergence().diverged
    changed = [
        {"namespace": USER, "key": "food", "value": {"text": "fasts"}, "created_at": "2026-01-01T00:00:00+00:00"}
    ]
    changed[0]["updated_at"] = changed[0]["created_at"]
    other = field.run_replay(field.replay(run.id, overrides={"host:store:2": changed}).id, work)
    assert other.result[1] == {"text": "fasts"}
    assert field.status().units == units


def test_a_store_in_another_field_than_the_run_is_recorded_in_the_run(
    field: quipu.Field, server: Server, name: str
) -> None:
    with quipu.Field(server.url, field=f"{name}-memory") as memory:
        store = QuipuStore(memory)
        store.put(USER, "food", {"text": "pizza"})

        def work(_run: quipu.Run) -> Any:
            return [item.value for item in store.search(USER)]

        with field.task("cook") as run:
            run.result = work(run)
        store.delete(USER, "food")
        assert field.run_replay(field.replay(run.id).id, work).result == [{"text": "pizza"}]
