"""What every system of the comparison is to the harness: installed, started, written to, asked, killed, weighed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from . import procs
from .places import Home
from .units import Unit
from .wire.base import Address, Gone, Refused, Wire

READY_S = 180.0


class CannotRun(Exception):
    """Why a system cannot be run here; told in the results."""


def free_port() -> int:
    """A port that nobody has just now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Peer(ABC):
    """One system. A data directory is given at each start; the same one again finds what was written."""

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    kind: ClassVar[str] = "memory"
    """`memory` ranks what it has; `log` only keeps it."""
    setup: ClassVar[str]
    """How it is run, in words."""
    promise: ClassVar[str]
    """What an answered write has been through, by its documentation or source."""
    vectors: ClassVar[str] = "the stub's"
    hosted: ClassVar[bool] = False
    """Whether it is a library behind a host of ours."""
    knows_authors: ClassVar[bool] = False
    """Whether it ranks by who said something; the texts of others name their author."""
    unfair: ClassVar[Sequence[str]] = ()
    """What a reader must know before comparing."""
    patience: ClassVar[float] = 1.0
    """How many times the share of time of others it is given."""
    stops_at: ClassVar[signal.Signals] = signal.SIGTERM
    """What makes it end in order."""
    fill_clients: ClassVar[int] = 8
    fill_batch: ClassVar[int] = 100
    variants: ClassVar[Sequence[str]] = ("shared",)
    """Ways in which several writers can share it, for the survival of writes."""

    def __init__(self, home: Home, embeddings: str) -> None:
        self.home, self.embeddings = home, embeddings
        self.process: subprocess.Popen[bytes] | None = None
        self.data = home.data
        self.port = 0
        self.variant = self.variants[0]

    # What each system says.

    @property
    @abstractmethod
    def wire(self) -> Wire:
        """The protocol it is spoken to in."""

    @abstractmethod
    def install(self) -> None:
        """Puts the pinned version in place, if it is not there yet."""

    @abstractmethod
    def command(self) -> list[str]:
        """What starts it over the data directory, on the port."""

    @abstractmethod
    def write(self, unit: Unit) -> bytes:
        """The request that adds one unit durably."""

    @abstractmethod
    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """The id under which the answered unit can be found again."""

    @abstractmethod
    def stored(self) -> set[str]:
        """The ids of everything that it has now."""

    def there(self, acknowledged: Sequence[str]) -> set[str]:
        """Which of these it has, and which others where that can be told."""
        del acknowledged
        return self.stored()

    def context(self, agent: str, hint: str, k: int) -> bytes:
        """The request for what an agent should know."""
        del agent, hint, k
        raise CannotRun("it keeps records in order and ranks nothing")

    def found(self, answer: bytes) -> list[str]:
        """The ids in an answer to that, best first."""
        raise NotImplementedError

    def bulk(self, units: list[Unit]) -> bytes | None:
        """A request that adds many at once, where it has one; used to fill it, never measured."""
        del units
        return None

    def taken(self, answer: bytes, sent: int) -> int:
        """How many of those that a request for many sent were taken; most take all of them or refuse."""
        del answer
        return sent

    def own_load(self, clients: int, seconds: float, about: int) -> dict[str, Any] | None:
        """The same writes by the system's own load generator, where it has one that costs less than ours.

        `about` is how many writes ours managed in that time.
        """
        del clients, seconds, about
        return None

    def prepare(self, agents: Sequence[str]) -> None:  # noqa: B027
        """Makes agents known, where that must be."""

    def ready(self) -> bool:
        """Whether it takes requests."""
        with suppress(OSError), socket.create_connection(self.address, timeout=1):
            return True
        return False

    def environment(self) -> dict[str, str]:
        """Variables beside the inherited ones."""
        return {}

    # What the harness does with it.

    @property
    def address(self) -> Address:
        """Where it listens."""
        return ("127.0.0.1", self.port)

    def start(self, data: Path) -> float:
        """Starts it over a data directory; gives the seconds until it took requests."""
        self.data = data
        data.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.lay_out()
        log = (self.home.logs / f"{self.name}.log").open("ab")
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            self.command(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=data,
            env={**os.environ, **self.environment()},
        )
        log.close()
        while not self.ready():
            if self.process.poll() is not None:
                raise CannotRun(f"it ended at its start with {self.process.returncode}: {self.last_words()}")
            if time.perf_counter() - begun > READY_S:
                raise CannotRun(f"it took no requests within {READY_S:.0f} s: {self.last_words()}")
            time.sleep(0.005)
        return time.perf_counter() - begun

    def lay_out(self) -> None:  # noqa: B027
        """Makes what must be there before the process starts: a config file, an empty database."""

    @property
    def starts_whole(self) -> bool:
        """Whether its start opens the data; else the first client does."""
        return True

    def last_words(self) -> str:
        """The end of what it logged."""
        text = (self.home.logs / f"{self.name}.log").read_text(errors="replace")
        return " / ".join(line.strip() for line in text.splitlines()[-4:])[-400:]

    def stop(self, patience: float = 60.0) -> None:
        """Asks it to end, and makes it end."""
        if self.process is None:
            return
        family = self.family()
        self.process.send_signal(self.stops_at)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        procs.end(family)
        self.process.wait()
        self.process = None

    def kill(self) -> None:
        """Kills it and all that it started, as `kill -9` does."""
        if self.process is None:
            return
        procs.end(self.family())
        self.process.wait()
        self.process = None

    def family(self) -> list[int]:
        """Its processes."""
        return procs.tree(self.process.pid) if self.process else []

    def rss(self) -> int:
        """Bytes of memory."""
        return procs.memory(self.family())

    def disk(self) -> int:
        """Bytes on the disk."""
        return procs.disk(self.data)

    def ask(self, request: bytes) -> bytes:
        """One request on a connection of its own."""
        connection = self.wire.open(self.address)
        connection.settimeout(600)
        try:
            return self.wire.exchange(connection, request)
        finally:
            connection.close()

    def answers(self, request: bytes) -> bool:
        """Whether a request is answered well."""
        try:
            self.ask(request)
        except (OSError, Refused, Gone):
            return False
        return True

    def describe(self) -> dict[str, Any]:
        """What the results say of it."""
        return {
            "peer": self.name,
            "title": self.title,
            "version": self.version,
            "kind": self.kind,
            "setup": self.setup,
            "promise": self.promise,
            "vectors": self.vectors,
            "unfair": list(self.unfair),
        }
