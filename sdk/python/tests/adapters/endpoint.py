"""A model that is a script: real HTTP on loopback, answers that are known beforehand, every call counted."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from quipu.adapters import _exchange, _spoken


@dataclass(frozen=True)
class Fail:
    """Refuse the call."""

    status: int


@dataclass(frozen=True)
class CallTool:
    """Answer by asking for a tool (Responses API, not streamed)."""

    name: str
    arguments: dict[str, Any]


Line = str | Fail | CallTool


@dataclass
class Endpoint:
    """The script and what was asked so far. When the script is over, each answer says which call it is."""

    url: str
    script: list[Line] = field(default_factory=list)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def calls(self) -> int:
        return len(self.asked)

    def next_line(self, path: str, body: dict[str, Any]) -> Line:
        with self.lock:
            self.asked.append((path, body))
            return self.script.pop(0) if self.script else f"answer number {len(self.asked)}"


def _tool_call(line: CallTool, model: str) -> dict[str, Any]:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": line.name, "status": "completed"}
    return _spoken.response([{**call, "arguments": json.dumps(line.arguments)}], model)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def log_message(self, *_args: object) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = _spoken.endpoint_of(self.path)
        if name is None:
            self._answer(404, "application/json", b'{"error": {"message": "no such endpoint"}}')
            return
        line = self.endpoint.next_line(self.path, body)
        model = body["model"]
        if isinstance(line, Fail):
            self._answer(line.status, "application/json", b'{"error": {"message": "not now"}}')
        elif isinstance(line, CallTool):
            self._answer(200, "application/json", json.dumps(_tool_call(line, model)).encode())
        elif body.get("stream"):
            events = _spoken.streamed(name, re.findall(r"\S+\s*", line), model)
            self._answer(200, "text/event-stream", b"".join(_exchange.event_bytes(event) for event in events))
        else:
            self._answer(200, "application/json", json.dumps(_spoken.whole(name, line, model)).encode())

    def _answer(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("x-request-id", f"req-{self.endpoint.calls}")
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def scripted_endpoint() -> Iterator[Endpoint]:
    """An endpoint that runs while the block does."""
    endpoint = Endpoint(url="")
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
