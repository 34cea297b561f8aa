"""Texts and vectors are the same every time."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import math
import struct

import pytest

from peers.builtin import BuiltIn, pieces
from peers.stub import DIMENSIONS, Memo, answer, hashed, serve
from peers.units import TEXT_BYTES, hints, units
from peers.wire.http import Http, request


def test_the_same_seed_gives_the_same_units() -> None:
    first, again, other = (list(itertools.islice(units(seed), 50)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({unit.text for unit in first}) == 50
    assert all(TEXT_BYTES - 20 < len(unit.text) <= TEXT_BYTES for unit in first)
    assert list(itertools.islice(units(1, first=10), 5)) == first[10:15]


def test_hints_are_of_the_same_language() -> None:
    words = set(" ".join(unit.text for unit in itertools.islice(units(1), 500)).replace(".", "").split())
    asked = " ".join(itertools.islice(hints(1), 50)).split()
    assert sum(word in words for word in asked) > len(asked) / 2


def test_hashed_vectors_have_length_one_and_tell_texts_apart() -> None:
    one, same, other = hashed(["red cargo bikes", "Red, cargo bikes!", "blue"])
    assert one == same != other
    assert math.isclose(sum(value * value for value in one), 1.0)


def test_words_are_cut_as_the_built_in_model_cuts_them() -> None:
    assert pieces("Hello, World!") == ["hello", ",", "world", "!"]
    assert pieces("Café naïve") == ["cafe", "naive"]
    assert pieces("don't $4.2B") == ["don", "'", "t", "$", "4", ".", "2b"]
    assert pieces("市場ab") == ["市", "場", "ab"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("The physician prescribed medicine to her patients.", [0.08326, -0.0214, 0.07481, 0.03903]),
        ("👩‍👧 party 🎉 time", [0.00164, -0.02124, 0.05208, 0.02991]),
        ("unbelievablyantidisestablishmentarianism", [0.09004, -0.03445, -0.11775, 0.07074]),
        ("Раз два три, naïveté ﬁne İstanbul", [-0.03154, -0.04663, -0.03079, 0.01413]),
    ],
)
def test_vectors_are_those_of_the_server(text: str, start: list[float]) -> None:
    """The same references as in `crates/quipu-recall/tests/embedding.rs`."""
    assert BuiltIn().one(text)[:4] == pytest.approx(start, abs=2e-5)


def test_the_stub_speaks_both_encodings() -> None:
    asked = {"model": "stub", "input": ["red", "blue"]}
    plain = json.loads(answer(Memo(hashed), json.dumps(asked).encode()))
    coded = json.loads(answer(Memo(hashed), json.dumps({**asked, "encoding_format": "base64"}).encode()))
    vectors = [entry["embedding"] for entry in plain["data"]]
    packed = [struct.unpack(f"<{DIMENSIONS}f", base64.b64decode(entry["embedding"])) for entry in coded["data"]]
    assert [list(vector) for vector in packed] == vectors
    assert [entry["index"] for entry in plain["data"]] == [0, 1]


def test_the_stub_answers_requests_in_any_pieces_and_many_at_once() -> None:
    said = request("POST", "/v1/embeddings", {"model": "stub", "input": "red"}) + request("GET", "/v1/models")

    async def ask(piece: int) -> list[bytes]:
        server = await serve(Memo(hashed), 0)
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for at in range(0, len(said), piece):
            writer.write(said[at : at + piece])
            await writer.drain()
        arrived = bytearray()
        answers: list[bytes] = []
        while len(answers) < 2:
            arrived += await reader.read(65_536)
            while (found := Http().take(arrived)) is not None:
                answers.append(found)
        writer.close()
        server.close()
        return answers

    whole, cut = asyncio.run(ask(10**6)), asyncio.run(ask(7))
    assert whole == cut
    assert b'"embedding"' in whole[0]
    assert b'"stub"' in whole[1]
