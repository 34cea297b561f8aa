"""The adapters with a key of a standard agent: nothing here may need an operator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import quipu
from quipu.adapters.langgraph import QuipuSaver, QuipuStore
from quipu.adapters.openai_agents import QuipuSession

from ..servers import Server
from .test_langgraph_saver import asking, thread


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Server]:
    """A server that asks for keys."""
    with Server(tmp_path / "data") as running:
        yield running


def test_a_key_of_authority_4_is_enough(guarded: Server) -> None:
    key = guarded.command("key", "create", "--agent", "*", "--authority", "4").split()[-1]
    with quipu.Field(guarded.url, key=guarded.key) as operator:
        operator.agent("operator").register()
    with quipu.Field(guarded.url, key=key) as field:
        store = QuipuStore(field)
        store.put(("a",), "k", {"text": "kept"})
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
        assert asking(QuipuSaver(field)).invoke({"said": ["in"]}, thread("t"))["__interrupt__"]
        assert asking(QuipuSaver(field)).get_state(thread("t")).next == ("ask",)
        session = QuipuSession("s", field)
        asyncio.run(session.add_items([{"role": "user", "content": "hello"}]))
        assert asyncio.run(session.pop_item()) == {"role": "user", "content": "hello"}


def test_a_worker_of_authority_4_goes_on_and_is_told_its_large_answers(guarded: Server) -> None:
    key = guarded.command("key", "create", "--agent", "*", "--authority", "4").split()[-1]
    called: list[int] = []

    def ask(size: int) -> str:
        called.append(size)
        return "x" * size

    def work(run: quipu.Run) -> list[int]:
        return [len(run.llm("main", ask, size)) for size in (10, 5_000_000, 9_000_000)]

    with quipu.Field(guarded.url, key=guarded.key) as operator:
        operator.agent("operator").register()
    with quipu.Field(guarded.url, key=key) as field:
        with field.task("much", agent="first", lease=1.0) as run:
            work(run)
            run.leave()
        done = field.run(work, task=run.id, agent="second", wait=60)
        assert done.result == [10, 5_000_000, 9_000_000]
        again = field.run_replay(field.replay(run.id, agent="second").id, work, agent="second")
        assert (again.result, again.drift) == (done.result, [])
    assert called == [10, 5_000_000, 9_000_000]
