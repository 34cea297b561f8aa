"""Durable single writes: each client sends one unit and waits for the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import procs
from ..load import drive
from ..peer import Peer
from ..units import AGENTS, Unit, units
from .modes import Mode
from .syncs import syncs

WARM = 32


def requests(peer: Peer, source: Iterator[Unit]) -> Iterator[tuple[Unit, bytes]]:
    """The writes of units."""
    return ((unit, peer.write(unit)) for unit in source)


def some(source: Iterator[Unit], count: int) -> Iterator[Unit]:
    """The next few."""
    return (next(source) for _ in range(count))


def writes(peer: Peer, mode: Mode) -> Iterator[dict[str, Any]]:
    """A row for each number of clients, each over a fresh directory."""
    return (_row(peer, mode, clients) for clients in mode.clients)


def _row(peer: Peer, mode: Mode, clients: int) -> dict[str, Any]:
    peer.start(peer.home.fresh(f"{peer.name}-writes"))
    try:
        peer.prepare(AGENTS)
        source = units(seed=clients)
        drive(peer.wire, peer.address, requests(peer, some(source, WARM)), clients=1)
        before = procs.processor(peer.family())
        load = drive(peer.wire, peer.address, requests(peer, source), clients=clients, seconds=mode.write_seconds)
        used = procs.processor(peer.family()) - before
        row: dict[str, Any] = {"clients": clients, **load.summary()}
        if load.times_ms:
            row["processor_ms"] = round(used * 1000 / len(load.times_ms), 4)
        own = peer.own_load(clients, mode.write_seconds, len(load.times_ms))
        if own is not None:
            row["own"] = own
        if clients == 1:
            row["syncs"] = syncs(peer, source)
    finally:
        peer.stop()
    return row
