"""Serves one hosted library: `python -m peers.hosts NAME --data DIR --port N --embeddings URL`.

One process for all clients, or one for each: that is how agents on one machine come to share a library.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from .base import Host


def answer(host: Host, request: dict[str, Any]) -> Any:
    """Does one call."""
    call = request["call"]
    if call == "write":
        return host.write(request["unit"])
    if call == "context":
        return host.context(request["agent"], request["hint"], request["k"])
    if call == "bulk":
        return host.bulk(request["units"])
    if call == "stored":
        return host.stored()
    if call == "there":
        return host.there(request["ids"])
    if call == "echo":
        return request["text"]
    raise ValueError(call)


def said(host: Host, line: bytes) -> bytes:
    """The line that answers a line."""
    try:
        return json.dumps(answer(host, json.loads(line))).encode() + b"\n"
    except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
        return f"!{type(error).__name__}: {error}".replace("\n", " ").encode() + b"\n"


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256
    host: Host
    command: list[str]
    children: list[subprocess.Popen[bytes]]


class OneProcess(socketserver.StreamRequestHandler):
    """All connections share the library of this process."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Serves a connection until it ends."""
        assert isinstance(self.server, Server)
        for line in self.rfile:
            self.wfile.write(said(self.server.host, line))


class ProcessEach(socketserver.StreamRequestHandler):
    """Each connection has a process of its own, which opens the same files."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Carries lines to the process and back; a connection that says nothing has none."""
        child: subprocess.Popen[bytes] | None = None
        for line in self.rfile:
            child = child or self.started()
            back = carried(child, line)
            self.wfile.write(back or b"!the process of this client ended\n")
            if not back:
                break
        if child and child.stdin:
            with suppress(OSError):
                child.stdin.close()
            child.wait()

    def started(self) -> subprocess.Popen[bytes]:
        """A new process."""
        assert isinstance(self.server, Server)
        child = subprocess.Popen(self.server.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.server.children.append(child)
        return child


def carried(child: subprocess.Popen[bytes], line: bytes) -> bytes:
    """What a process answers to a line; nothing if it ended."""
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(line)
        child.stdin.flush()
        return child.stdout.readline()
    except OSError:
        return b""


def by_lines(host: Host) -> None:
    """Serves standard input."""

    def leave(_signal: int, _frame: FrameType | None) -> None:
        host.close()
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the answers
    for line in sys.stdin.buffer:
        out.write(said(host, line))
        out.flush()
    host.close()


def by_socket(host: Host | None, port: int, command: list[str]) -> None:
    """Serves a port until it is told to end."""
    with Server(("127.0.0.1", port), OneProcess if host else ProcessEach) as server:
        server.command, server.children = command, []
        if host:
            server.host = host

        def leave(_signal: int, _frame: FrameType | None) -> None:
            # Threads may be within the library: it is closed here, and they end with the process.
            if host:
                host.close()
            for child in server.children:
                child.terminate()
            for child in server.children:
                child.wait()
            os._exit(0)

        signal.signal(signal.SIGTERM, leave)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        signal.pause()


def main() -> None:
    """Opens the library, then listens: who can connect can write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--embeddings", required=True)
    parser.add_argument("--store", default="", help="which of its stores, where the library has several")
    parser.add_argument("--process-each", action="store_true", help="a process for each connection")
    parser.add_argument("--by-lines", action="store_true", help="serve standard input instead of a port")
    options = parser.parse_args()
    module = importlib.import_module(f"peers.hosts.{options.name}")
    place = ["--data", str(options.data), "--embeddings", options.embeddings, "--store", options.store]
    command = [sys.executable, "-m", "peers.hosts", options.name, *place, "--by-lines"]

    def opened() -> Host:
        host: Host = module.open_host(options.data, options.embeddings, options.store)
        return host

    if options.by_lines:
        by_lines(opened())
    else:
        by_socket(None if options.process_each else opened(), options.port, command)


if __name__ == "__main__":
    main()
