"""Start-up over nothing, and what it weighs then."""

from __future__ import annotations

import statistics
from typing import Any

from ..load import drive
from ..peer import Peer
from ..units import AGENTS
from ..wire import lines
from .modes import Mode

ROUNDS = 3
ECHOES = 200
LONG_S = 10.0


def starting(peer: Peer, mode: Mode) -> list[dict[str, Any]]:
    """Seconds from the start of the process until it takes requests: the median of three, or one that took long."""
    del mode
    seconds: list[float] = []
    figures: dict[str, Any] = {}
    for number in range(ROUNDS):
        seconds.append(peer.start(peer.home.fresh(f"{peer.name}-start-{number}")))
        peer.prepare(AGENTS)
        figures = {"memory_bytes": peer.rss(), "disk_bytes": peer.disk()}
        if peer.hosted:
            echo = ((None, lines.request("echo", text="x" * 500)) for _ in range(ECHOES))
            figures["hop_p50_ms"] = drive(peer.wire, peer.address, echo, clients=1).summary()["p50_ms"]
        peer.stop()
        if seconds[0] > LONG_S:
            break
    return [{"start_s": round(statistics.median(seconds), 4), **figures}]
