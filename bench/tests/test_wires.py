"""Answers arrive in any pieces: every protocol takes the same answers however they are cut."""

from __future__ import annotations

import struct

import pytest

from peers.wire import http, lines, nats, postgres, redis
from peers.wire.base import Refused, Wire


def message(kind: bytes, body: bytes) -> bytes:
    """A message of PostgreSQL."""
    return kind + struct.pack("!i", len(body) + 4) + body


ROW = message(b"D", struct.pack("!hi", 1, 2) + b"u1")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
CASES: list[tuple[Wire, bytes, list[bytes]]] = [
    (http.Http(), b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 204 No\r\n\r\n", [b"ok", b""]),
    (http.Http(), CHUNKED * 2, [b"abcde", b"abcde"]),
    (lines.Lines(), b'"u1"\n[1]\n', [b'"u1"', b"[1]"]),
    (
        redis.Redis(),
        b"$3\r\n1-0\r\n:5\r\n*2\r\n$1\r\na\r\n*0\r\n",
        [b"$3\r\n1-0\r\n", b":5\r\n", b"*2\r\n$1\r\na\r\n*0\r\n"],
    ),
    (postgres.Postgres("u", "d"), ROW + ROW + message(b"Z", b"I") + message(b"Z", b"I"), [b"u1\nu1", b""]),
    (
        nats.Nats(),
        b"PING\r\nMSG inbox.1 1 9\r\n{" + b'"seq":1}' + b"\r\nINFO {}\r\nMSG a 1 2\r\n{}\r\n",
        [b'{"seq":1}', b"{}"],
    ),
]


@pytest.mark.parametrize(("wire", "said", "answers"), CASES)
@pytest.mark.parametrize("piece", [1, 2, 7, 1000])
def test_answers_are_the_same_in_any_pieces(wire: Wire, said: bytes, answers: list[bytes], piece: int) -> None:
    arrived, taken = bytearray(), []
    for at in range(0, len(said), piece):
        arrived += said[at : at + piece]
        while (answer := wire.take(arrived)) is not None:
            taken.append(answer)
    assert taken == answers
    assert not arrived


@pytest.mark.parametrize(
    ("wire", "said", "word"),
    [
        (http.Http(), b"HTTP/1.1 503 No\r\ncontent-length: 4\r\n\r\nfull", "503: full"),
        (lines.Lines(), b"!ValueError: full\n", "ValueError"),
        (redis.Redis(), b"-LOADING wait\r\n", "LOADING"),
        (postgres.Postgres("u", "d"), message(b"E", b"Mfull\0") + message(b"Z", b"I"), "full"),
        (nats.Nats(), b'MSG a 1 22\r\n{"error":{"code":503}}\r\n', "503"),
    ],
)
def test_a_refusal_is_no_answer_and_is_taken_away(wire: Wire, said: bytes, word: str) -> None:
    arrived = bytearray(said)
    with pytest.raises(Refused, match=word):
        wire.take(arrived)
    assert not arrived


def test_a_literal_of_sql_cannot_end_early() -> None:
    assert postgres.quoted("it's") == "'it''s'"
