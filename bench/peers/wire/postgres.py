"""PostgreSQL's protocol, version 3, for a server that trusts the loopback address: simple queries in, rows out."""

from __future__ import annotations

import socket
import struct

from .base import Refused, Wire

ERROR, READY, ROW = b"E", b"Z", b"D"


def request(sql: str) -> bytes:
    """The bytes of a query."""
    raw = sql.encode() + b"\0"
    return b"Q" + struct.pack("!i", len(raw) + 4) + raw


def quoted(text: str) -> str:
    """A literal."""
    return "'" + text.replace("'", "''") + "'"


class Postgres(Wire):
    """An answer is the first column of its rows, a line each."""

    def __init__(self, user: str, database: str) -> None:
        self.user, self.database = user, database

    def greet(self, connection: socket.socket) -> None:
        """Says who we are and waits until the server is ready."""
        names = f"user\0{self.user}\0database\0{self.database}\0\0".encode()
        connection.sendall(struct.pack("!ii", len(names) + 8, 196_608) + names)
        self.wait(connection)

    def take(self, arrived: bytearray) -> bytes | None:
        """See the base: all messages up to the one that says ready."""
        at, rows, wrong = 0, [], b""
        while len(arrived) >= at + 5:
            kind = bytes(arrived[at : at + 1])
            end = at + 1 + int(struct.unpack_from("!i", arrived, at + 1)[0])
            if len(arrived) < end:
                return None
            if kind == ERROR:
                wrong = bytes(arrived[at + 5 : end])
            elif kind == ROW:
                size = int(struct.unpack_from("!i", arrived, at + 7)[0])
                rows.append(bytes(arrived[at + 11 : at + 11 + max(size, 0)]))
            at = end
            if kind == READY:
                del arrived[:at]
                if wrong:
                    raise Refused(wrong[:300].replace(b"\0", b" ").decode(errors="replace"))
                return b"\n".join(rows)
        return None
