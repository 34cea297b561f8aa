"""What a log weighs: it ranks nothing, so it is only filled, weighed and started again."""

from __future__ import annotations

import time
from typing import Any

from ..peer import Peer
from ..units import AGENTS, units
from .context import Counted, fill
from .modes import Mode


def weight(peer: Peer, mode: Mode) -> list[dict[str, Any]]:
    """One row, at the size before the largest: more says nothing new."""
    size = mode.sizes[-2] if len(mode.sizes) > 1 else mode.sizes[-1]
    peer.start(peer.home.fresh(f"{peer.name}-weight"))
    try:
        peer.prepare(AGENTS)
        empty = peer.disk()
        count = fill(peer, Counted(units(seed=7)), size, mode.fill_seconds)
        row: dict[str, Any] = {"units": count, "memory_bytes": peer.rss()}
        data = peer.data
        peer.stop()
        disk = row["disk_bytes"] = peer.disk()
        row["start_again_s"] = round(_started(peer, data), 4)
    finally:
        peer.stop()
    return [{**row, "disk_bytes_per_unit": round((disk - empty) / max(count, 1))}]


def _started(peer: Peer, data: Any) -> float:
    begun = time.perf_counter()
    peer.start(data)
    return time.perf_counter() - begun
