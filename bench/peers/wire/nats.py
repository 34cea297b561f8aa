"""NATS: publishing into JetStream, each message answered by its sequence number on an inbox of the connection."""

from __future__ import annotations

import json
import socket

from .base import Refused, Wire

INBOX = b"@inbox"  # stands in a request for the inbox of the connection that will send it


class Nats(Wire):
    """An answer is the JSON that came to the inbox."""

    def greet(self, connection: socket.socket) -> None:
        """Says who we are, and listens to the inbox of this connection."""
        hello = {"verbose": False, "pedantic": False, "headers": False, "protocol": 1}
        connection.sendall(b"CONNECT " + json.dumps(hello).encode() + b"\r\nPING\r\n")
        arrived = bytearray()
        while b"PONG\r\n" not in arrived:
            more = connection.recv(65_536)
            if not more:
                raise Refused("the server hung up")
            arrived += more
        connection.sendall(b"SUB " + _inbox(connection) + b" 1\r\n")

    def sealed(self, connection: socket.socket, request: bytes) -> bytes:
        """Puts the name of the connection's own inbox in."""
        return request.replace(INBOX, _inbox(connection), 1)

    def take(self, arrived: bytearray) -> bytes | None:
        """See the base; the server's own pings and news are passed over."""
        while True:
            line = arrived.find(b"\r\n")
            if line < 0:
                return None
            words = bytes(arrived[:line]).split(b" ")
            if words[0] == b"-ERR":
                raise Refused(bytes(arrived[:line]).decode(errors="replace"))
            if words[0] != b"MSG":
                del arrived[: line + 2]
                continue
            size = int(words[-1])
            if len(arrived) < line + 4 + size:
                return None
            body = bytes(arrived[line + 2 : line + 2 + size])
            del arrived[: line + 4 + size]
            if b'"error"' in body:
                raise Refused(body[:300].decode(errors="replace"))
            return body


def _inbox(connection: socket.socket) -> bytes:
    """Where the answers of a connection go; its local port tells it from the others."""
    return b"inbox.%d" % connection.getsockname()[1]


def publish(subject: str, payload: bytes) -> bytes:
    """The bytes of a message that wants an answer."""
    return b"PUB %b %b %d\r\n%b\r\n" % (subject.encode(), INBOX, len(payload), payload)
