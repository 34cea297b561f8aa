"""Subscriptions that resume: after breaks, kills and orderly stops, and in another process."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

import quipu

from .servers import Server, answer, handled


def take(subscription: quipu.Subscription, count: int) -> list[str]:
    """The next summaries."""
    return [push.summary for push in itertools.islice(subscription, count)]


def record(field: quipu.Field, texts: Iterator[str] | list[str]) -> None:
    """Has another agent record them."""
    bo = field.agent("bo", role="researcher")
    for text in texts:
        bo.record(text, purpose="Try", draft=True)


def test_what_others_record_is_pushed(field: quipu.Field) -> None:
    with field.agent("ana").subscribe(["memory.recorded"]) as subscription:
        record(field, ["First.\u2028Still first.", "Second \x85 🦉."])
        first, second = (next(subscription), next(subscription))
    assert first.event == "memory.recorded"
    assert first.subscription_id == subscription.id
    assert "Second \x85 🦉." in second.summary
    assert first.memory_unit_id is not None
    assert subscription.cursor == second.cursor


def test_it_goes_on_after_a_kill_and_after_a_stop(own_server: Server) -> None:
    with quipu.Field(own_server.url, retry_for=120) as field:
        with field.agent("ana").subscribe(["memory.recorded"]) as subscription:
            seen: list[str] = []
            listening = threading.Thread(target=lambda: seen.extend(take(subscription, 9)))
            listening.start()
            for round_number, end in enumerate([own_server.kill, own_server.stop, None]):
                record(field, [f"Round {round_number} unit {number}." for number in range(3)])
                if end:
                    end()
                    own_server.start()
            listening.join(timeout=120)
        expected = [f"Round {round_number} unit {number}." for round_number in range(3) for number in range(3)]
        assert [text.rpartition("recorded: ")[2] for text in seen] == expected


def test_another_object_resumes_by_the_cursor(field: quipu.Field) -> None:
    ana = field.agent("ana")
    with ana.subscribe(["memory.recorded"]) as subscription:
        record(field, ["One.", "Two.", "Three."])
        take(subscription, 1)
    with field.agent("ana").resume(subscription.id, after=subscription.cursor) as resumed:
        assert [text.rpartition(": ")[2] for text in take(resumed, 2)] == ["Two.", "Three."]
    assert [it.id for it in ana.subscriptions().subscriptions] == [subscription.id]


def test_one_that_is_ended_ends(field: quipu.Field) -> None:
    ana = field.agent("ana")
    subscription = ana.subscribe(["memory.recorded"])
    record(field, ["Only this."])
    next(subscription)
    ana.unsubscribe(subscription.id)
    assert list(subscription) == []
    with pytest.raises(quipu.NotFound), ana.resume(subscription.id, after=subscription.cursor) as gone:
        next(gone)


def test_what_cannot_be_subscribed_to_is_refused(field: quipu.Field) -> None:
    with pytest.raises(quipu.InvalidRequest):
        field.agent("ana").subscribe([])
    with pytest.raises(quipu.InvalidRequest):
        field.agent("ana").subscribe(["nothing.happened"])  # type: ignore[list-item]


def test_nobody_there_ends_the_patience() -> None:
    with quipu.Field("http://127.0.0.1:1") as field:
        subscription = field.agent("ana").resume("sub-1", after="1.0.0", reconnect_for=0.3)
        with pytest.raises(quipu.ConnectionFailed):
            next(subscription)


def test_a_stream_that_breaks_in_the_middle_of_a_push_is_told_once() -> None:
    push = (
        b'{"subscription_id":"sub-1","event":"memory.recorded","epoch":%d,"relevance_score":1.0,"summary":"s%d",'
        b'"memory_unit_id":null,"conflict_id":null,"requires_action":false,"cursor":"%d.0.1"}'
    )
    frames = [
        b"id: %d.0.1\nevent: memory.recorded\ndata: " % number + push % (number, number, number) + b"\n\n"
        for number in range(1, 4)
    ]
    asked: list[str] = []

    def stream(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.path.partition("after=")[2])
        if len(asked) == 2:
            answer(request, 503, b'{"code": "OVERLOADED", "message": "busy"}')
            return
        request.send_response(200)
        request.end_headers()
        if len(asked) == 1:
            request.wfile.write(b": hello\r\n\r\n" + frames[0] + frames[1][:-30])
        else:
            request.wfile.write(frames[1] + frames[2] + b'event: end\ndata: {"reason":"unsubscribed"}\n\n')
        request.close_connection = True

    with handled(stream) as url, quipu.Field(url) as field:
        told = [push.epoch for push in field.agent("ana").resume("sub-1", after="0.0.0")]
    assert told == [1, 2, 3]
    assert asked == ["0.0.0", "1.0.1", "1.0.1"]


def test_awaiting_subscriptions_resume_too(own_server: Server) -> None:
    async def main() -> list[str]:
        async with quipu.AsyncField(own_server.url, retry_for=120) as field:
            bo = field.agent("bo")
            seen: list[str] = []
            async with await field.agent("ana").subscribe(["memory.recorded"]) as subscription:
                await bo.record("One.", purpose="Try", draft=True)
                seen.append((await subscription.__anext__()).summary)
                await asyncio.to_thread(own_server.kill)
                await asyncio.to_thread(own_server.start)
                await bo.record("Two.", purpose="Try", draft=True)
                async for push in subscription:
                    seen.append(push.summary)
                    break
            return seen

    assert [text.rpartition(": ")[2] for text in asyncio.run(main())] == ["One.", "Two."]


def test_a_block_is_left_while_another_thread_waits_for_the_next_one(field: quipu.Field) -> None:
    heard = threading.Event()
    with field.agent("ana").subscribe(["memory.recorded"]) as pushes:

        def listen() -> None:
            for _ in pushes:
                heard.set()

        listener = threading.Thread(target=listen)
        listener.start()
        record(field, ["The harbour raised its fees."])
        assert heard.wait(60)
    record(field, ["A sign of life."])
    listener.join(60)
    assert not listener.is_alive()
