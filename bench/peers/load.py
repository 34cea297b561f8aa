"""The load: some clients, each with a connection of its own and one request under way at a time.

All of them are driven by one thread that waits for sockets, because threads of Python would measure each other.
`generator_share` says how much of a core this took: near 1 the generator is the limit and not the system.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .figures import spread
from .wire.base import Address, Refused, Wire

Requests = Iterator[tuple[Any, bytes]]
"""What each request stands for, and its bytes."""

ARRIVES = 262_144
PATIENCE_S = 120.0


@dataclass
class Load:
    """What came of it."""

    done: list[Any] = field(default_factory=list)
    """What each answered request stood for."""
    answers: list[tuple[Any, bytes]] = field(default_factory=list)
    """The same with the answers, where they are kept."""
    times_ms: list[float] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    refused: list[Any] = field(default_factory=list)
    """What the refused requests stood for."""
    lost_connections: int = 0
    seconds: float = 0.0
    generator_share: float = 0.0

    def summary(self) -> dict[str, float | int | str]:
        """In figures."""
        figures: dict[str, float | int | str] = {
            "answered": len(self.times_ms),
            "refused": len(self.refusals),
            "seconds": round(self.seconds, 3),
            "per_second": round(len(self.times_ms) / self.seconds, 2) if self.seconds else 0.0,
            "generator_share": round(self.generator_share, 3),
            **spread(self.times_ms),
        }
        if self.refusals:
            figures["first_refusal"] = self.refusals[0]
        return figures


class _Client:
    """A connection and the request that is under way on it."""

    def __init__(self, wire: Wire, connection: socket.socket) -> None:
        self.wire, self.connection = wire, connection
        self.arrived = bytearray()
        self.sent_at = 0.0
        self.meaning: Any = None

    def send(self, request: bytes) -> None:
        """Sends a request; small ones go out at once, and a large one is waited for."""
        self.connection.sendall(self.wire.sealed(self.connection, request))

    def receive(self) -> bytes | None:
        """Reads what is there; gives the answer once it is whole."""
        more = self.connection.recv(ARRIVES)
        if not more:
            raise ConnectionResetError
        self.arrived += more
        return self.wire.take(self.arrived)


class _Drive:
    """Clients that take requests from one list until it ends, or the time does."""

    def __init__(self, wire: Wire, requests: Requests, deadline: float, keep: bool) -> None:
        self.wire, self.requests, self.deadline, self.keep = wire, requests, deadline, keep
        self.load = Load()
        self.waiting = selectors.DefaultSelector()

    def add(self, address: Address) -> None:
        """One more client."""
        connection = self.wire.open(address)
        self.waiting.register(connection, selectors.EVENT_READ, _Client(self.wire, connection))

    def begin(self) -> None:
        """Every client sends its first request."""
        for key in list(self.waiting.get_map().values()):
            self.next(key.data)

    def next(self, client: _Client) -> None:
        """The client's next request, or its end."""
        following = next(self.requests, None) if time.perf_counter() < self.deadline else None
        if following is None:
            self.drop(client)
            return
        client.meaning, request = following
        client.sent_at = time.perf_counter()
        try:
            client.send(request)
        except OSError:
            self.load.lost_connections += 1
            self.drop(client)

    def drop(self, client: _Client) -> None:
        """Closes the client's connection."""
        self.waiting.unregister(client.connection)
        client.connection.close()

    def serve(self, client: _Client) -> None:
        """Takes the client's answer, if it is whole."""
        try:
            answer = client.receive()
        except Refused as refusal:
            self.load.refusals.append(str(refusal))
            self.load.refused.append(client.meaning)
            self.next(client)
            return
        except OSError:
            self.load.lost_connections += 1
            self.drop(client)
            return
        if answer is None:
            return
        self.load.times_ms.append((time.perf_counter() - client.sent_at) * 1000)
        self.load.done.append(client.meaning)
        if self.keep:
            self.load.answers.append((client.meaning, answer))
        self.next(client)

    def close(self) -> None:
        """Closes what is still open."""
        for key in list(self.waiting.get_map().values()):
            with contextlib.suppress(OSError):
                key.data.connection.close()
        self.waiting.close()


def drive(
    wire: Wire,
    address: Address,
    requests: Requests,
    *,
    clients: int,
    seconds: float = 3600.0,
    keep: bool = False,
    patience: float = PATIENCE_S,
) -> Load:
    """Sends requests from so many clients; each begins when the answer before it is there.

    Ends with the requests or with the time, then waits for what is under way. `keep` keeps the answers.
    """
    drive = _Drive(wire, requests, 0.0, keep)
    try:
        for _ in range(clients):
            drive.add(address)
        begun, used = time.perf_counter(), time.process_time()
        drive.deadline = begun + seconds
        drive.begin()
        while drive.waiting.get_map():
            ready = drive.waiting.select(timeout=patience)
            if not ready:
                drive.load.lost_connections += len(drive.waiting.get_map())
                break
            for key, _ in ready:
                drive.serve(key.data)
        drive.load.seconds = time.perf_counter() - begun
        drive.load.generator_share = (time.process_time() - used) / max(drive.load.seconds, 1e-9)
    finally:
        drive.close()
    return drive.load
