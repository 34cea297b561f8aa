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
