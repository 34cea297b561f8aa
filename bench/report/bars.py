"""The figures to reach, in the order in which they are told. Their thresholds are here alone."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .measures import (
    CLIENTS,
    LARGE,
    LARGEST,
    Facts,
    Measured,
    against_redis,
    batches_against_redis,
    context_against_memories,
    disk,
    growth_of_attune,
    lost_writes,
    one_client,
    own,
    writes_against_memories,
)
from .wording import number, size, times

LIMITS = Path(__file__).with_name("limits.toml")


@dataclass(frozen=True)
class Bar:
    """One figure to reach."""

    name: str
    what: str
    bar: float
    stretch: float
    least: bool
    """Whether it is to be at least so much; else at most."""
    told: Callable[[float], str]
    measure: Callable[[Facts], Measured]

    def holds(self, value: float, threshold: float) -> bool:
        """Whether a figure is good enough."""
        return value >= threshold if self.least else value <= threshold

    def asked(self) -> str:
        """The thresholds in words."""
        word = "at least" if self.least else "at most"
        stretch = f"; {self.told(self.stretch)}" if self.stretch != self.bar else ""
        return f"{word} {self.told(self.bar)}{stretch}"

    def verdict(self, value: float) -> str:
        """Whether it holds, and by how much it does not."""
        if self.holds(value, self.stretch):
            return "holds, the stretch too" if self.stretch != self.bar else "holds"
        if self.holds(value, self.bar):
            return "holds"
        return f"**does not hold**: {times(value / self.bar)} of the bar" if self.bar else "**does not hold**"


def _ms(value: float) -> str:
    return f"{number(value)} ms"


def _attune(units: int, share: str, bar: float, stretch: float) -> Bar:
    what = f"ATTUNE with a hint, ten units, at {units:,} units, {share}"
    note = "by the server's own clock, as its answers tell it"
    measure = own("growth", f"ATTUNE, {units} units; in the server {share}", note, 0.001)
    return Bar(f"attune-{units}", what, bar, stretch, least=False, told=_ms, measure=measure)


BARS = (
    Bar("record-64", "durable RECORD, 64 clients, against Redis XADD", 0.35, 0.7, True, times, against_redis),
    Bar("record-16-units", "the same, 16 units a request, in units", 1.0, 2.0, True, times, batches_against_redis),
    Bar(
        "record-1",
        "durable RECORD, 1 client, p50 against a sync of the disk",
        2.0,
        1.3,
        False,
        times,
        one_client,
    ),
    Bar(
        "record-detection",
        "RECORD with detection against without, 64 clients",
        0.7,
        0.9,
        True,
        times,
        own("record-detection", f"RECORD, {CLIENTS} clients: with detection / without"),
    ),
    _attune(LARGE, "p50", 2, 1),
    _attune(LARGE, "p99", 6, 3),
    _attune(LARGEST, "p50", 6, 3),
    _attune(LARGEST, "p99", 20, 10),
    Bar(
        "attune-rate",
        f"ATTUNE throughput at {LARGE:,} units, 8 clients",
        1_000,
        3_000,
        True,
        lambda value: f"{number(value)}/s",
        own("attune", f"ATTUNE, {LARGE} units, 8 clients rate"),
    ),
    Bar(
        "attune-growth",
        f"growth of ATTUNE p50 from 10,000 to {LARGEST:,} units",
        6,
        3,
        False,
        times,
        growth_of_attune,
    ),
    Bar(
        "writes-memories",
        "durable writes, 64 clients, against the fastest memory",
        10,
        30,
        True,
        times,
        writes_against_memories,
    ),
    Bar(
        "context-memories",
        f"context at {LARGE:,} units, p50: the fastest memory against Quipu",
        3,
        10,
        True,
        times,
        context_against_memories,
    ),
    Bar(
        "lost",
        "acknowledged writes lost under concurrent writers and `kill -9`",
        0,
        0,
        False,
        lambda value: f"{value:.0f}",
        lost_writes,
    ),
    Bar(
        "memory",
        f"resident memory at {LARGEST:,} units",
        2.5 * 2**30,
        1.2 * 2**30,
        False,
        size,
        own("growth", f"resident memory, {LARGEST} units", factor=2**20),
    ),
    Bar("disk", "disk a unit of 500 bytes of text", 2.5 * 1024, 1.5 * 1024, False, size, disk),
    Bar(
        "open",
        f"open at {LARGEST:,} units",
        5,
        1,
        False,
        lambda value: f"{number(value)} s",
        own("growth", f"opened, {LARGEST} units"),
    ),
)


def limits() -> dict[str, str]:
    """What limits each figure, by our profiles."""
    return {str(name): str(said) for name, said in tomllib.loads(LIMITS.read_text()).items()}
