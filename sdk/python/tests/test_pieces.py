"""The pieces that need no server: streams cut anywhere, pauses, errors that come back."""

from __future__ import annotations

import pytest

import quipu
from quipu._answers import kind_of, overrides_body
from quipu._exact import exact
from quipu._link import Link
from quipu._plans import LONGEST_DELAY_S, Patience, Send, Sleep, TransportFailed, send
from quipu._stream import Frame, FrameReader
from quipu._wire import Reply, akashik

STREAM = ": hi\r\nid: 1\r\n\r\nid: 2\nevent: a\ndata: x\u2028y\ndata:z\n\n\nevent: end\ndata: {}\n\nid: 3".encode()


def frames(chunks: list[bytes]) -> list[Frame]:
    """What a reader makes of them."""
    reader = FrameReader()
    return [frame for chunk in chunks for frame in reader.feed(chunk)]


def test_frames_are_the_same_wherever_the_stream_is_cut() -> None:
    whole = frames([STREAM])
    assert whole == [Frame(id="1"), Frame("a", ["x\u2028y", "z"], "2"), Frame(), Frame("end", ["{}"])]
    for first in range(len(STREAM)):
        for second in range(first, len(STREAM)):
            assert frames([STREAM[:first], STREAM[first:second], STREAM[second:]]) == whole


def test_pauses_grow_to_a_limit_and_obey_the_server() -> None:
    patience = Patience(60)
    pauses = [patience.delay(attempt, None) for attempt in range(2000)]
    assert 0 < pauses[0] <= 0.05
    assert all(pause <= LONGEST_DELAY_S for pause in pauses)
    assert patience.delay(0, 7.0) == 7.0


def test_every_attempt_sends_the_same_request() -> None:
    request = akashik("RECORD", {"content": "x"}, "ana", None)
    plan = send(request, Patience(1000))
    sent = [next(plan)]
    for failure in [TransportFailed("cut", timed_out=False), TransportFailed("slow", timed_out=True)]:
        assert isinstance(plan.throw(failure), Sleep)
        sent.append(plan.send(None))
    assert isinstance(plan.send(Reply(503, b"", 2.0)), Sleep)
    sent.append(plan.send(None))
    with pytest.raises(StopIteration) as done:
        plan.send(Reply(200, b"{}"))
    assert done.value.value.status == 200
    assert sent == [Send(request)] * 4


def test_two_messages_have_two_ids() -> None:
    first, second = (akashik("RECORD", {}, "ana", None).content for _ in range(2))
    assert first != second


def test_kinds_follow_from_keys() -> None:
    keys = ["llm:a:1", "mcp:a:b-1", "secret:x", "time:x", "host:x:1", "host:tools.x:1", "event:e", "odd"]
    kinds = "llm_provider_response mcp_tool_return secret_value time host_fact tool_result event_payload host_fact"
    assert [kind_of(key) for key in keys] == kinds.split()
    body = overrides_body({"time:x": quipu.Override("now", reason="r"), "llm:a:1": None})
    assert body["time:x"] == {"kind": "time", "value": "now", "reason": "r"}
    assert body["llm:a:1"] == {"kind": "llm_provider_response", "value": None}


@pytest.mark.parametrize("value", [object(), {1, 2, object()}, {(1, 2): 3}])
def test_what_is_no_json_is_an_invalid_request(value: object) -> None:
    with pytest.raises(quipu.InvalidRequest):
        exact(value)


def test_a_key_is_not_shown() -> None:
    assert "quipu_hidden" not in repr(Link.given("http://h", "quipu_hidden", None, 1.0, 1.0))
