"""Embeddings for everybody: an OpenAI-compatible `/v1/embeddings` on the loopback address, 256 numbers a text.

`builtin` is Quipu's own model and needs numpy; `hash` needs nothing and gives bags of hashed words. Both are
deterministic. Every text's vector is kept, so that a text costs its model once. What a system is charged for is mostly
the HTTP call; `peers.machine.stub_cost` measures it.

`python -m peers.stub --port N [--model builtin|hash]`
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import math
import re
import struct
from collections.abc import Callable
from typing import Any

from .builtin import BuiltIn

DIMENSIONS = 256
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)\r\n", re.IGNORECASE)
Model = Callable[[list[str]], list[list[float]]]


def hashed(texts: list[str]) -> list[list[float]]:
    """A word adds or takes one at a place that its hash gives."""
    return [_bag(re.findall(r"[a-z0-9]+", text.lower())) for text in texts]


def _bag(words: list[str]) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for word in words or [""]:
        number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        vector[number % DIMENSIONS] += 1.0 if number >> 63 else -1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


class Memo:
    """A model that is asked once for each text."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.known: dict[str, bytes] = {}

    def of(self, texts: list[str]) -> list[bytes]:
        """The vectors as little-endian floats."""
        missing = [text for text in dict.fromkeys(texts) if text not in self.known]
        for text, vector in zip(missing, self.model(missing), strict=True):
            self.known[text] = struct.pack(f"<{DIMENSIONS}f", *vector)
        return [self.known[text] for text in texts]


def answer(memo: Memo, body: bytes) -> bytes:
    """What a request for vectors is answered with; one without a body asks for the models."""
    if not body:
        return json.dumps({"object": "list", "data": [{"id": "stub", "object": "model"}]}).encode()
    asked: dict[str, Any] = json.loads(body)
    texts = [asked["input"]] if isinstance(asked["input"], str) else list(asked["input"])
    coded = asked.get("encoding_format") == "base64"
    rows = [
        {
            "object": "embedding",
            "index": number,
            "embedding": base64.b64encode(raw).decode() if coded else struct.unpack(f"<{DIMENSIONS}f", raw),
        }
        for number, raw in enumerate(memo.of(texts))
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return json.dumps({"object": "list", "data": rows, "model": asked.get("model", "stub"), "usage": usage}).encode()


class Connection(asyncio.Protocol):
    """One client. As little of HTTP as clients of embeddings need: a head, a length, a body."""

    def __init__(self, memo: Memo) -> None:
        self.memo = memo
        self.arrived = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the way back."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answers every request that is whole."""
        self.arrived += data
        while (head := self.arrived.find(HEAD_END)) >= 0:
            found = LENGTH.search(self.arrived, 0, head + 2)
            end = head + len(HEAD_END) + (int(found[1]) if found else 0)
            if len(self.arrived) < end:
                return
            body = bytes(self.arrived[head + len(HEAD_END) : end])
            del self.arrived[:end]
            said = answer(self.memo, body)
            self.transport.write(HEAD % len(said) + said)


async def serve(memo: Memo, port: int) -> asyncio.Server:
    """Listens; port 0 takes a free one."""
    return await asyncio.get_running_loop().create_server(lambda: Connection(memo), "127.0.0.1", port, backlog=256)


async def _forever(memo: Memo, port: int) -> None:
    await (await serve(memo, port)).serve_forever()


def main() -> None:
    """Serves until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", choices=("builtin", "hash"), default="builtin")
    options = parser.parse_args()
    memo = Memo(hashed if options.model == "hash" else BuiltIn().of)
    asyncio.run(_forever(memo, options.port))


if __name__ == "__main__":
    main()
