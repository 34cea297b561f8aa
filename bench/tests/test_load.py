"""The load: so many clients, one request at a time each, and what it says when the other side dies."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from peers.load import drive
from peers.wire import lines


class Server(socketserver.ThreadingTCPServer):
    """Echoes lines; refuses every fifth and hangs up after some, where it is told to."""

    allow_reuse_address = True
    daemon_threads = True
    most = 10**9

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.lock = threading.Lock()
        self.seen = self.busy = self.busiest = 0


class Echo(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self) -> None:
        """Answers until the server has had enough."""
        server = self.server
        assert isinstance(server, Server)
        for line in self.rfile:
            with server.lock:
                server.seen += 1
                server.busy += 1
                server.busiest = max(server.busiest, server.busy)
                number = server.seen
            if number > server.most:
                return
            said = b"!no\n" if line.startswith(b"refuse") else line
            with server.lock:
                server.busy -= 1
            self.wfile.write(said)


@contextmanager
def serving() -> Iterator[Server]:
    """A server for a test."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def numbered(count: int) -> Iterator[tuple[int, bytes]]:
    """Requests that say their number."""
    return ((number, b"%d\n" % number) for number in range(count))


def test_every_request_is_answered_once_and_told_by_what_it_stood_for() -> None:
    with serving() as server:
        load = drive(lines.Lines(), ("127.0.0.1", server.server_address[1]), numbered(500), clients=7, keep=True)
    assert sorted(load.done) == list(range(500))
    assert all(answer == b"%d" % number for number, answer in load.answers)
    assert load.summary()["answered"] == 500
    assert server.busiest <= 7


def test_refusals_are_counted_apart_and_the_client_goes_on() -> None:
    requests = iter([(1, b"a\n"), (2, b"refuse\n"), (3, b"b\n")])
    with serving() as server:
        load = drive(lines.Lines(), ("127.0.0.1", server.server_address[1]), requests, clients=1)
    assert (load.done, load.refused, load.refusals) == ([1, 3], [2], ["no"])
    assert load.summary()["first_refusal"] == "no"


def test_what_was_not_answered_before_the_end_is_not_acknowledged() -> None:
    with serving() as server:
        server.most = 100
        load = drive(lines.Lines(), ("127.0.0.1", server.server_address[1]), numbered(10**6), clients=4, keep=True)
    assert len(load.answers) <= 100
    assert load.lost_connections == 4


def test_the_time_ends_it() -> None:
    with serving() as server:
        load = drive(lines.Lines(), ("127.0.0.1", server.server_address[1]), numbered(10**9), clients=2, seconds=0.05)
    assert load.times_ms
    assert load.lost_connections == 0
