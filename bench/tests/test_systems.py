"""What each server's answers mean, with answers as they have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from peers.catalog import named
from peers.peer import CannotRun, Peer
from peers.places import Home
from peers.units import Unit

UNIT = Unit("u-1", "ada", "s-1", "It's raining in Lima")


def system(name: str) -> Peer:
    """One that is not started."""
    return named(name)(Home(Path("nowhere")), "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    ("name", "answer", "id_"),
    [
        ("quipu", b'{"status":"accepted","memory_unit_id":"mem-1","epoch":2,"conflicts_detected":[]}', "mem-1"),
        ("memrust", b'{"record":{"id":"7c1e","kind":"episodic","text":"x"}}', "7c1e"),
        ("ai-memory", b'{"id":"9d2f","tier":"long","namespace":"units","title":"u-1","agent_id":"ada"}', "9d2f"),
        ("hindsight", b'{"success":true,"bank_id":"units","items_count":1,"async":false}', "u-1"),
        ("redis", b"$15\r\n1763000000000-0\r\n", "1763000000000-0"),
        ("postgres", b"", "u-1"),
        ("nats", b'{"stream":"UNITS","seq":42}', "42"),
        ("mentedb", b'"0b9c"', "0b9c"),
    ],
)
def test_an_answered_write_has_an_id(name: str, answer: bytes, id_: str) -> None:
    assert system(name).acknowledged(answer, UNIT) == id_


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("quipu", {"record": [{"memory_unit": {"id": "a"}}, {"memory_unit": {"id": "b"}}]}),
        ("memrust", {"hits": [{"record": {"id": "a"}, "score": 1.0}, {"record": {"id": "b"}, "score": 0.5}]}),
        ("ai-memory", {"memories": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.1}], "count": 2}),
        ("hindsight", {"results": [{"document_id": "a"}, {"document_id": "a"}, {"document_id": "b"}]}),
        ("langgraph-sqlite", ["a", "b"]),
    ],
)
def test_context_is_ids_best_first(name: str, answer: object) -> None:
    assert system(name).found(json.dumps(answer).encode()) == ["a", "b"]


def test_a_request_for_many_that_is_answered_well_may_have_taken_less() -> None:
    assert system("ai-memory").taken(b'{"created":98,"errors":["a: no","b: no"]}', sent=100) == 98
    assert system("ai-memory").taken(b'{"id":"9d2f"}', sent=1) == 1


@pytest.mark.parametrize("name", ["redis", "postgres", "nats", "sqlite"])
def test_a_log_ranks_nothing_and_says_so(name: str) -> None:
    with pytest.raises(CannotRun, match="ranks nothing"):
        system(name).context("ada", "rain", 10)


def test_what_is_said_stays_whole_in_every_request() -> None:
    for name in ("quipu", "memrust", "ai-memory", "hindsight", "redis", "nats", "sqlite"):
        assert b"It's raining in Lima" in system(name).write(UNIT), name
    assert b"'It''s raining in Lima'" in system("postgres").write(UNIT)
