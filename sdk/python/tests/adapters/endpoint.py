"""A model that is a script: real HTTP on loopback, answers that are known beforehand, every call counted."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from quipu.adapters import _exchange, _spoken

from ..servers import handled


@dataclass(frozen=True)
class Fail:
    """Refuse the call."""

    status: int


@dataclass(frozen=True)
class CallTool:
    """Answer by asking for a tool (Responses API, not streamed)."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Held:
    """Say one piece of a stream after the other, each when the listener has let it go."""

    text: str
    let_go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))


@dataclass(frozen=True)
class CallTools:
    """Answer by asking for several tools at once."""

    calls: list[CallTool]


Line = str | Fail | CallTool | CallTools | Held


@dataclass
class Endpoint:
    """The script and what was asked so far. When the script is over, each answer says which call it is."""

    url: str = ""
    script: list[Line] = field(default_factory=list)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def calls(self) -> int:
        return len(self.asked)

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        """Answers one call."""
        # Head and body are two writes, and nobody should wait for the first to be acknowledged.
        request.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        with self._lock:
            self.asked.append((request.path, body))
            line = self.script.pop(0) if self.script else f"answer number {len(self.asked)}"
        name = _spoken.endpoint_of(request.path)
        assert name is not None, request.path
        if isinstance(line, Fail):
            self._whole(request, line.status, {"error": {"message": "not now", "type": "scripted"}})
        elif isinstance(line, CallTool | CallTools):
            self._whole(request, 200, _tool_calls(line, body["model"], self.calls))
        elif body.get("stream"):
            text = line.text if isinstance(line, Held) else line
            events = _spoken.streamed(name, re.findall(r"\S+\s*", text), body["model"], str(self.calls))
            self._stream(request, events, line.let_go if isinstance(line, Held) else None)
        else:
            assert isinstance(line, str)
            self._whole(request, 200, _spoken.whole(name, line, body["model"], str(self.calls)))

    def _begin(self, request: BaseHTTPRequestHandler, status: int, kind: str) -> None:
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("x-request-id", f"req-{self.calls}")
        request.send_header("retry-after-ms", "1")

    def _whole(self, request: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self._begin(request, status, "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def _stream(
        self, request: BaseHTTPRequestHandler, events: list[dict[str, Any]], let_go: threading.Semaphore | None
    ) -> None:
        self._begin(request, 200, "text/event-stream")
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        for event in events:
            if let_go is not None:
                assert let_go.acquire(timeout=60), "nobody listened"
            content = _exchange.event_bytes(event)
            request.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        request.wfile.write(b"0\r\n\r\n")


def _tool_calls(line: CallTool | CallTools, model: str, count: int) -> dict[str, Any]:
    called = []
    for number, it in enumerate(line.calls if isinstance(line, CallTools) else [line], 1):
        said = {"name": it.name, "status": "completed", "arguments": json.dumps(it.arguments)}
        called.append(
            {"type": "function_call", "id": f"fc_{count}_{number}", "call_id": f"call_{count}_{number}", **said}
        )
    return {**_spoken.response(called, model), "id": f"resp_{count}"}


@contextmanager
def scripted_endpoint() -> Iterator[Endpoint]:
    """An endpoint that runs while the block does."""
    endpoint = Endpoint()
    with handled(endpoint.handle) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint
