"""HTTP/1.1 with connections that stay open; answers with a length or in chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .base import Refused, Wire

END = b"\r\n\r\n"


def request(method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a request."""
    payload = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(payload)}"]
    if payload:
        lines.append("content-type: application/json")
    lines.extend(f"{name}: {value}" for name, value in (headers or {}).items())
    return "\r\n".join(lines).encode() + END + payload


def _chunks(arrived: bytearray, at: int) -> tuple[bytes, int] | None:
    """The body behind a head, and where it ends."""
    body = bytearray()
    while True:
        line = arrived.find(b"\r\n", at)
        if line < 0:
            return None
        size = int(arrived[at:line].split(b";")[0], 16)
        begin, at = line + 2, line + 4 + size
        if len(arrived) < at:
            return None
        if size == 0:
            return bytes(body), at
        body += arrived[begin : begin + size]


class Http(Wire):
    """Answers of a status below 300 are their bodies; others refuse."""

    def take(self, arrived: bytearray) -> bytes | None:
        """See the base."""
        head = arrived.find(END)
        if head < 0:
            return None
        lines = bytes(arrived[:head]).lower()
        begin = head + len(END)
        if b"transfer-encoding: chunked" in lines:
            whole = _chunks(arrived, begin)
            if whole is None:
                return None
            body, end = whole
        else:
            mark = lines.find(b"content-length:")
            length = int(lines[mark + 15 :].split(b"\r\n", 1)[0]) if mark >= 0 else 0
            end = begin + length
            if len(arrived) < end:
                return None
            body = bytes(arrived[begin:end])
        del arrived[:end]
        if not lines[9:10] == b"2":
            raise Refused(f"{lines[9:12].decode()}: {body[:300].decode(errors='replace')}")
        return body
