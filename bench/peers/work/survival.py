"""Acknowledged writes that are still there: after several writers at once, and after `kill -9` in their midst.

The kill ends the processes, not the machine: what the kernel has is kept. Whether a write was synced is told beside it.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ..load import Load, drive
from ..peer import Peer
from ..units import AGENTS, Unit, units
from .modes import Mode
from .writes import requests

WRITERS = 8
MOST = 8_000
WRITE_S = 30.0
"""Where no kill comes, a slow system has written less by then."""
KILL_S = (0.5, 30.0)
"""The kill comes when half of the writes are answered, but not before the first of these and not after the second."""


def survival(peer: Peer, mode: Mode) -> Iterator[dict[str, Any]]:
    """Rows for each way of sharing: without a kill, and with one for each round."""
    try:
        for variant in peer.variants:
            peer.variant = variant
            yield {"variant": variant, "kill": False, **_round(peer, mode, seed=0, kill=False)}
            killed = [_round(peer, mode, seed, kill=True) for seed in range(1, mode.survival_rounds + 1)]
            yield {"variant": variant, "kill": True, "rounds": len(killed), **total(killed)}
    finally:
        peer.variant = peer.variants[0]


def tally(acknowledged: Collection[str], stored: Collection[str]) -> dict[str, int]:
    """What was promised, what is there of it, and what is there besides, which is no fault."""
    promised, there = set(acknowledged), set(stored)
    doubled = len(acknowledged) - len(promised)
    return {
        "acknowledged": len(promised) + doubled,
        "survived": len(promised & there),
        "lost": len(promised - there) + doubled,
        "unanswered_but_there": len(there - promised),
    }


def total(rounds: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The sums of several rounds; the longest recovery."""
    summed: dict[str, Any] = {}
    for figures in rounds:
        for name, value in figures.items():
            if name == "recovery_s":
                summed[name] = max(summed.get(name, 0.0), value)
            elif isinstance(value, int):
                summed[name] = summed.get(name, 0) + value
            else:
                summed.setdefault(name, value)
    return summed


def _round(peer: Peer, mode: Mode, seed: int, *, kill: bool) -> dict[str, Any]:
    data = peer.home.fresh(f"{peer.name}-survival")
    peer.start(data)
    try:
        peer.prepare(AGENTS)
        load = _killed(peer, mode, seed) if kill else _written(peer, mode, seed)
        acknowledged = [peer.acknowledged(answer, unit) for unit, answer in load.answers]
        if not kill:
            peer.stop()
        begun = time.perf_counter()
        peer.start(data)
        recovery = time.perf_counter() - begun
        figures: dict[str, Any] = tally(acknowledged, peer.there(acknowledged))
    finally:
        peer.stop()
    if peer.starts_whole:
        figures["recovery_s"] = round(recovery, 4)
    figures["refused"] = len(load.refusals)
    if load.refusals:
        figures["first_refusal"] = load.refusals[0]
    return figures


def _source(mode: Mode, seed: int, peer: Peer) -> Any:
    return requests(peer, itertools.islice(units(seed), mode.survival_writes))


def _written(peer: Peer, mode: Mode, seed: int) -> Load:
    return drive(peer.wire, peer.address, _source(mode, seed, peer), clients=WRITERS, keep=True, seconds=WRITE_S)


def _killed(peer: Peer, mode: Mode, seed: int) -> Load:
    """Writes until the kill; the kill waits until half of the writes are sent."""
    sent = itertools.count()
    half = threading.Event()

    def watched() -> Any:
        many: Iterable[tuple[Unit, bytes]] = requests(peer, itertools.islice(units(seed), MOST))
        for unit, request in many:
            if next(sent) == mode.survival_writes // 2:
                half.set()
            yield unit, request

    def strike() -> None:
        begun = time.monotonic()
        half.wait(KILL_S[1])
        time.sleep(max(0.0, KILL_S[0] - (time.monotonic() - begun)))
        peer.kill()

    striker = threading.Thread(target=strike)
    striker.start()
    try:
        return drive(peer.wire, peer.address, watched(), clients=WRITERS, keep=True, seconds=60, patience=15)
    finally:
        striker.join()
