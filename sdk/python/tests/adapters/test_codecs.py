"""What the adapters write comes back as it was, whatever it is and however it is cut."""

from __future__ import annotations

import json
import random
from datetime import datetime, timezone
from typing import Any

import pytest

from quipu.adapters import _exchange, _spoken
from quipu.adapters._exchange import Question, answer_value, answer_wire
from quipu.adapters.langgraph import _items, _thread
from quipu.adapters.langgraph._thread import CHECKPOINT, PRUNED, WRITES, Thread
from quipu.models import Confidence, MemoryUnit, Source

LETTERS = 'aZ 09ß🧶日"\\\n\t:{}[]'


def any_json(draw: random.Random, depth: int = 3) -> Any:
    kind = draw.randrange(7 if depth else 5)
    if kind == 5:
        return [any_json(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind == 6:
        return {any_text(draw): any_json(draw, depth - 1) for _ in range(draw.randrange(4))}
    return [None, draw.random() < 0.5, draw.randrange(-(2**53), 2**53), draw.uniform(-1e9, 1e9), any_text(draw)][kind]


def any_text(draw: random.Random) -> str:
    return "".join(draw.choice(LETTERS) for _ in range(draw.randrange(12)))


@pytest.mark.parametrize("seed", range(20))
def test_a_value_of_a_store_comes_back_from_the_evidence_of_its_unit(seed: int) -> None:
    draw = random.Random(seed)
    address = (tuple(any_text(draw) for _ in range(draw.randrange(1, 4))), any_text(draw))
    value = {any_text(draw): any_json(draw) for _ in range(draw.randrange(5))} | {"text": "x" * draw.randrange(40_000)}
    created = datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=timezone.utc)
    evidence = _items.evidence_of(address, value, indexed=True, created_at=created)
    assert all(len(entry.encode()) <= 64 * 1024 for entry in evidence)
    unit = MemoryUnit(
        id="mem-1",
        epoch=7,
        confidence=Confidence(evidence=["of somebody else", *evidence]),
        source=Source(agent_id="a", agent_role="r", timestamp="2026-05-06T07:08:09.010Z"),
    )
    stored = _items.read_item(unit)
    assert stored is not None
    assert (stored.address, stored.value, stored.created_at) == (address, value, created)
    assert stored.updated_at.isoformat() == "2026-05-06T07:08:09.010000+00:00"
    assert _items.content_of(address, value, None).strip()
    assert len(_items.task_of(address).encode()) <= 256


@pytest.mark.parametrize("seed", range(20))
def test_an_answer_of_an_endpoint_comes_back_as_http(seed: int) -> None:
    draw = random.Random(seed)
    question = Question("POST", "/v1/responses", {"model": "m"})
    events = [{"event": "e", "data": {"said": any_json(draw)}} for _ in range(3)] + [{"data": "[DONE]"}]
    for kind, content in (
        ("application/json; charset=utf-8", json.dumps({"said": any_json(draw)}).encode()),
        ("text/event-stream", b"".join(_exchange.event_bytes(event) for event in events)),
        ("audio/mpeg", b"\xff" + draw.randbytes(50)),
    ):
        value = answer_value(draw.choice([200, 429]), {"content-type": kind, "x-request-id": "r"}, content)
        wire = answer_wire(json.loads(json.dumps(value)), question)
        assert answer_value(wire.status, wire.headers, wire.content) == value
        assert wire.headers["x-request-id"] == "r"


def test_streams_are_read_however_their_lines_end() -> None:
    said = 'event: a\ndata: {"n": 1}\n\n: a comment\n\ndata: one\u2028\ndata: two\n\n'
    for ending in ("\n", "\r\n", "\r"):
        content = said.replace("\n", ending).encode()
        value = answer_value(200, {"content-type": "text/event-stream"}, content)
        assert value["events"] == [{"event": "a", "data": {"n": 1}}, {"data": "one\u2028\ntwo"}]
        again = b"".join(_exchange.event_bytes(event) for event in value["events"])
        assert answer_value(200, {"content-type": "text/event-stream"}, again) == value


def test_a_stream_that_was_left_anywhere_has_the_events_that_were_whole() -> None:
    told: list[dict[str, Any]] = [{"event": "a", "data": {"said": "Zoë"}}, {"data": "ü"}]
    pieces = [_exchange.event_bytes(event) for event in told]
    content = b"".join(pieces)
    for end in range(len(content) + 1):
        value = answer_value(200, {"content-type": "text/event-stream"}, content[:end])
        assert value["events"] == told[: (end >= len(pieces[0])) + (end >= len(content))]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/openai/deployments/d/chat/completions", "/v1/messages/"])
def test_an_endpoint_is_known_by_the_end_of_its_path(path: str) -> None:
    endpoint = _spoken.endpoint_of(path)
    assert endpoint is not None
    assert path.rstrip("/").endswith(endpoint)
    assert _spoken.endpoint_of("/v1/embeddings") is None


def any_history(draw: random.Random) -> list[tuple[str, dict[str, Any]]]:
    told: list[tuple[str, dict[str, Any]]] = []
    for number in range(draw.randrange(1, 12)):
        place = {"ns": draw.choice(["", "child:1"]), "id": f"{draw.randrange(8):04}"}
        match draw.randrange(5):
            case 0:
                forgotten = [[draw.choice(["", "child:1"]), f"{draw.randrange(8):04}"] for _ in range(2)]
                told.append((PRUNED, {"checkpoints": forgotten}))
            case 1 | 2:
                writes = [[draw.choice([-1, 0, 1]), "channel", ["json", str(number)]]]
                told.append((WRITES, {**place, "task": draw.choice("ab"), "path": "", "writes": writes}))
            case _:
                version = f"{number}.x"
                values = {"channel": [version, draw.choice([None, ["json", any_text(draw)]])]}
                kept = {"parent": None, "metadata": ["json", "{}"], "checkpoint": ["json", "{}"]}
                told.append((CHECKPOINT, {**place, **kept, "versions": {"channel": version}, "values": values}))
    return told


def folded(events: list[tuple[str, dict[str, Any]]]) -> Thread:
    thread = Thread()
    heard = [
        {"id": f"event_{number:04}", "event": name, "payload": json.loads(json.dumps(payload)), "replayed": False}
        for number, (name, payload) in enumerate(events)
    ]
    middle = len(heard) // 2
    thread.hear(heard[:middle])
    thread.hear(heard[middle:])
    return thread


def seen(thread: Thread) -> Any:
    values = {place: thread.values_of(payload) for place, payload in thread.checkpoints.items()}
    return [values, {place: writes for place, writes in thread.writes.items() if writes}]


@pytest.mark.parametrize("seed", range(30))
def test_a_thread_is_the_same_told_whole_in_parts_or_again(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    history = any_history(random.Random(seed))
    whole = folded(history)
    # A copy has it all, but for writes to checkpoints that are not there.
    assert seen(folded(list(whole.retold()))) == seen(whole)
    monkeypatch.setattr(_thread, "_WHOLE_MAX", 7)
    parts = [part for name, payload in history for part in _thread.told(name, payload)]
    assert len(parts) > len(history)
    assert seen(folded(parts)) == seen(whole)


def test_json_with_a_name_twice_is_kept_as_it_came() -> None:
    content = b'{"a": 1, "b": {"c": 2, "c": 3}, "id": 12345678901234567890, "n": NaN}'
    value = answer_value(200, {"content-type": "application/json"}, content)
    assert value == {"status": 200, "json": content.decode()}
    assert answer_wire(value, Question("POST", "/v1/responses", None)).content == content
    stream = b'data: {"a": 1, "a": 2}\n\n'
    value = answer_value(200, {"content-type": "text/event-stream"}, stream)
    assert value["events"] == [{"data": '{"a": 1, "a": 2}'}]
    assert answer_wire(value, Question("POST", "/v1/responses", None)).content == stream
