"""What every protocol does: open a connection, and take one answer from what has arrived."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod

Address = tuple[str, int]


class Refused(Exception):
    """The system answered, and said no."""


class Gone(Exception):
    """The connection ended before the answer."""


class Wire(ABC):
    """A protocol in which each request has one answer, in order."""

    def open(self, address: Address) -> socket.socket:
        """A connection on which requests can be sent."""
        connection = socket.create_connection(address, timeout=60)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.greet(connection)
        return connection

    def greet(self, connection: socket.socket) -> None:  # noqa: B027
        """What must be said before the first request."""

    @abstractmethod
    def take(self, arrived: bytearray) -> bytes | None:
        """Takes one whole answer out of what arrived, if there is one. Raises Refused for an answer that says no."""

    def sealed(self, connection: socket.socket, request: bytes) -> bytes:  # noqa: ARG002
        """The request as it goes out on this connection."""
        return request

    def exchange(self, connection: socket.socket, request: bytes) -> bytes:
        """One request and its answer, waited for."""
        connection.sendall(self.sealed(connection, request))
        return self.wait(connection)

    def wait(self, connection: socket.socket, arrived: bytearray | None = None) -> bytes:
        """The next answer."""
        arrived = bytearray() if arrived is None else arrived
        while True:
            answer = self.take(arrived)
            if answer is not None:
                return answer
            more = connection.recv(262_144)
            if not more:
                raise Gone
            arrived += more
