"""Redis streams."""

from __future__ import annotations

import csv
import re
from typing import Any

from .. import procs
from ..peer import Peer
from ..places import debian
from ..units import Unit, text
from ..wire import redis
from ..wire.base import Wire

STREAM = "units"


class RedisStream(Peer):
    """XADD with a sync before each answer."""

    name = "redis"
    title = "Redis stream"
    version = "7.0.15"
    kind = "log"
    setup = "Debian redis-server, appendonly yes, appendfsync always, no snapshots"
    promise = "synced before the answer; all commands of one turn of its loop share a sync"
    vectors = "none"
    unfair = ("It ranks nothing, embeds nothing and checks nothing.",)

    @property
    def wire(self) -> Wire:
        """See the base."""
        return redis.Redis()

    def install(self) -> None:
        """See the base."""
        debian("redis-server", "redis-server")

    def command(self) -> list[str]:
        """See the base."""
        settings = {"port": self.port, "bind": "127.0.0.1", "dir": self.data, "appendonly": "yes"}
        always = {**settings, "appendfsync": "always", "save": "", "daemonize": "no"}
        options = [part for name, value in always.items() for part in (f"--{name}", str(value))]
        return [str(debian("redis-server", "redis-server")), *options]

    def ready(self) -> bool:
        """See the base: it answers while it still loads, but not to this."""
        return self.answers(redis.request("XLEN", STREAM))

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        return redis.request("XADD", STREAM, "*", "id", unit.id, "agent", unit.agent, "text", unit.text)

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base: `$15\\r\\n1763...-0\\r\\n`."""
        del unit
        return answer.split(b"\r\n")[1].decode()

    def own_load(self, clients: int, seconds: float, about: int) -> dict[str, Any] | None:
        """See the base."""
        del seconds
        program = str(debian("redis-benchmark", "redis-tools"))
        asked = ["-p", str(self.port), "-c", str(clients), "-n", str(max(about, 1000)), "--csv"]
        entry = ["XADD", STREAM, "*", "id", "u-0", "agent", "writer-0", "text", text(0, 0)]
        rows = list(csv.reader(procs.run([program, *asked, *entry]).splitlines()))
        figures = dict(zip(rows[0], rows[1], strict=True))
        spread = {f"p{share}_ms": float(figures[f"p{share}_latency_ms"]) for share in (50, 95, 99)}
        return {"generator": "redis-benchmark", "per_second": float(figures["rps"]), **spread}

    def stored(self) -> set[str]:
        """See the base."""
        answer = self.ask(redis.request("XRANGE", STREAM, "-", "+"))
        return {found.decode() for found in re.findall(rb"\r\n(\d{10,}-\d+)\r\n", answer)}
