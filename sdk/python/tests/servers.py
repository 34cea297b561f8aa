"""Servers that tests talk to: the real one, one that loses answers on the way, and scripted ones that misbehave."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from typing_extensions import Self


def binary() -> str:
    """The program under test."""
    found = os.environ.get("QUIPU_BIN") or shutil.which("quipu")
    if found is None:
        raise RuntimeError("set QUIPU_BIN to the quipu program")
    return found


class Server:
    """A process on a data directory. It comes back under the same address."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        self.key: str | None = None
        self._options = options
        self._address = "127.0.0.1:0"
        self._process: subprocess.Popen[str] | None = None
        self._reader = threading.Thread()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self._address}"

    def start(self) -> None:
        """Starts it and waits until it listens."""
        command = [binary(), "serve", "--data", str(self.data), "--listen", self._address, *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said += line
            key = re.search(r"quipu_[\w-]+", line)
            self.key = key.group() if key else self.key
            found = re.search(r"listens on http://(\S+)", line)
            if found:
                self._address = found.group(1)
                # Whoever reads no more would stop it once the pipe is full.
                self._reader = threading.Thread(target=self._process.communicate)
                self._reader.start()
                return
        raise RuntimeError(f"the server did not start: {said}")

    def kill(self) -> None:
        """Kills it without a warning."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Asks it to stop and waits."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._reader.join(timeout=60)
            self._process.wait(timeout=60)
            self._process = None

    def command(self, *words: str) -> str:
        """Runs another command of the program on the same data."""
        done = subprocess.run(
            [binary(), *words, "--data", str(self.data)], check=True, capture_output=True, text=True, timeout=60
        )
        return done.stdout

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


Handle = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def handled(handle: Handle) -> Iterator[str]:
    """A server that does with every request what the test says."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            handle(self)

        do_GET = do_PUT = do_POST  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def answer(request: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    """Answers one request."""
    request.rfile.read(int(request.headers.get("Content-Length") or 0))
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def waits(until: threading.Event) -> None:
    """Answers nothing."""
    until.wait(60)


class Forgetful:
    """Stands before a server, passes everything on, and loses the first answer to each request that matches."""

    def __init__(self, server: Server, lose: Callable[[str], bool]) -> None:
        self._server = server
        self._lose = lose
        self._seen: set[bytes] = set()
        self.lost: list[str] = []

    def __call__(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        host = self._server.url.removeprefix("http://")
        upstream = http.client.HTTPConnection(host, timeout=60)
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        upstream.request(request.command, request.path, body, headers)
        response = upstream.getresponse()
        content = response.read()
        upstream.close()
        mark = request.path.encode() + body
        if request.command == "POST" and self._lose(request.path) and mark not in self._seen:
            self._seen.add(mark)
            self.lost.append(request.path)
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        request.send_response(response.status)
        request.send_header("Content-Type", response.headers.get("Content-Type", ""))
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)
