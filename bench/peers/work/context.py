"""Context for an agent in a store that grows: how long it takes, what the store weighs, how long it starts again."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

from ..load import drive
from ..peer import CannotRun, Peer
from ..units import AGENTS, READER, Unit, hints, units
from .modes import Mode

UNITS_ASKED = 10
WARM = 5
TOO_SLOW = 1.5
"""A size is not tried where it would take more than so many times what is left for filling, at the pace so far."""


def context(peer: Peer, mode: Mode) -> Iterator[dict[str, Any]]:
    """A row for each size; sizes that are not reached within the time say so."""
    peer.start(peer.home.fresh(f"{peer.name}-context"))
    empty = peer.disk()
    source, there, used, why = Counted(units(seed=7)), 0, 0.0, ""
    try:
        peer.prepare(AGENTS)
        for size in mode.sizes:
            why = why or beyond(there, used, size, mode.fill_seconds)
            if not why:
                begun = time.monotonic()
                there += fill(peer, source, size, mode.fill_seconds - used)
                used += time.monotonic() - begun
                why = "" if there >= size else f"{there:,} units after {used:.0f} s"
            if why:
                yield {"units": size, "status": "not reached", "why": why, "there": there}
            else:
                yield {"units": size, **_measured(peer, mode, size, empty)}
    finally:
        peer.stop()


def beyond(there: int, used: float, size: int, seconds: float) -> str:
    """Why a size cannot be reached in the seconds for filling, by how long it took so far; or nothing.

    No system is filled faster the more it has. What is far out of reach is not tried: others can use the time.
    """
    if there == 0 or used * (size - there) / there <= TOO_SLOW * (seconds - used):
        return ""
    return f"not tried, since the first {there:,} units took {used:.0f} s"


class Counted:
    """Units, and how many of them were taken."""

    def __init__(self, source: Iterator[Unit]) -> None:
        self.source, self.given = source, 0

    def take(self, count: int) -> list[Unit]:
        """The next ones."""
        self.given += count
        return list(itertools.islice(self.source, count))


def fill(peer: Peer, source: Counted, size: int, seconds: float) -> int:
    """Adds units up to a size by the fastest way that the system has, as far as the time goes; how many it took."""

    def requests() -> Iterator[tuple[int, bytes]]:
        while source.given < size:
            many = source.take(min(peer.fill_batch, size - source.given))
            at_once = peer.bulk(many)
            if at_once is not None:
                yield len(many), at_once
            else:
                yield from ((1, peer.write(unit)) for unit in many)

    load = drive(
        peer.wire, peer.address, requests(), clients=peer.fill_clients, seconds=seconds, patience=600, keep=True
    )
    if load.refusals:
        raise CannotRun(f"it refused a write while it was filled: {load.refusals[0]}")
    return sum(peer.taken(answer, sent) for sent, answer in load.answers)


def _measured(peer: Peer, mode: Mode, size: int, empty: int) -> dict[str, Any]:
    asked = hints(seed=size)

    def ask(count: int) -> Iterator[tuple[str, bytes]]:
        return ((hint, peer.context(READER, hint, UNITS_ASKED)) for hint in itertools.islice(asked, count))

    drive(peer.wire, peer.address, ask(WARM), clients=1)
    load = drive(peer.wire, peer.address, ask(mode.questions), clients=1, seconds=mode.ask_seconds, keep=True)
    figures: dict[str, Any] = load.summary()
    figures["found"] = round(sum(len(peer.found(answer)) for _, answer in load.answers) / max(len(load.answers), 1), 2)
    figures["memory_bytes"] = peer.rss()
    data = peer.data
    peer.stop()
    figures["disk_bytes"] = peer.disk()
    figures["disk_bytes_per_unit"] = round((figures["disk_bytes"] - empty) / size)
    begun = time.perf_counter()
    peer.start(data)
    peer.ask(peer.context(READER, next(asked), UNITS_ASKED))
    figures["start_again_s"] = round(time.perf_counter() - begun, 4)
    figures["memory_again_bytes"] = peer.rss()
    return figures
