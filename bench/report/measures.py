"""How each figure to reach is measured: taken from the raw results, with what a reader must know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .own import Own
from .rates import best_rate, lost, rivals_at
from .results import Run, System
from .wording import number

CLIENTS = 64
LARGE, LARGEST = 100_000, 1_000_000


@dataclass(frozen=True)
class Facts:
    """The raw results that there are."""

    own: Own | None
    peers: Run | None


@dataclass(frozen=True)
class Measured:
    """A figure, what a reader must know of it, and the command that gives it again."""

    value: float
    command: str
    note: str = ""
    proviso: str = ""
    """What the verdict must not be told without."""


class Lacking(Exception):
    """Why there is no figure."""


def own(step: str, what: str, note: str = "", factor: float = 1.0) -> Callable[[Facts], Measured]:
    """A figure of one step of Quipu alone."""

    def measure(facts: Facts) -> Measured:
        run = _own(facts)
        value = run.value(step, what)
        if value is None:
            raise Lacking(_why(run, step))
        return Measured(value * factor, f"`{run.step(step)['command']}`", note)

    return measure


def _own(facts: Facts) -> Own:
    if facts.own is None:
        raise Lacking("Quipu alone was not measured in this run")
    return facts.own


def _why(run: Own, step: str) -> str:
    known = run.step(step)
    return "not at this size in this run" if known["status"] == "ok" else f"{known['status']}: {known['why']}"


def _peers(facts: Facts) -> tuple[Run, System]:
    """The run beside others, and Quipu in it."""
    ours = facts.peers.named("quipu") if facts.peers else None
    if facts.peers is None or ours is None:
        raise Lacking("the others were not measured in this run")
    return facts.peers, ours


def _rate(facts: Facts, name: str) -> float:
    """A system's rate of durable writes."""
    run, _ = _peers(facts)
    system = run.named(name)
    rate = best_rate(system, CLIENTS) if system else None
    if rate is None:
        raise Lacking(f"{name} was not measured by {CLIENTS} clients in this run")
    return rate


def _together(run: Run, step: str, *rivals: str) -> str:
    """The command that measures Quipu and others again."""
    return f"`python3 -m peers run --mode {run.mode} --only {' '.join(('quipu', *rivals))} --steps {step}`"


def against_redis(facts: Facts) -> Measured:
    """One unit a request, both in the same run."""
    ours, theirs = _rate(facts, "quipu"), _rate(facts, "redis")
    command = _together(_peers(facts)[0], "writes", "redis")
    return Measured(ours / theirs, command, f"{number(ours)}/s against {number(theirs)}/s")


def batches_against_redis(facts: Facts) -> Measured:
    """Sixteen units a request against one entry a command."""
    found = own("record-batch", f"RECORD of 16 units, {CLIENTS} clients: units")(facts)
    theirs = _rate(facts, "redis")
    return Measured(found.value / theirs, found.command, f"{number(found.value)} units/s against {number(theirs)}/s")


def one_client(facts: Facts) -> Measured:
    """As a multiple of the sync time before and after it."""
    found = own("record", "RECORD, 1 clients: p50 as a multiple of the sync time")(facts)
    unlikely = ", but a RECORD cannot be faster than its sync: the disk changed meanwhile"
    return Measured(found.value, found.command, proviso=unlikely if found.value < 1 else "")


def growth_of_attune(facts: Facts) -> Measured:
    """How much longer at the largest size."""
    small, large = (own("growth", f"ATTUNE, {units} units p50")(facts) for units in (10_000, LARGEST))
    note = f"{number(small.value / 1000)} ms to {number(large.value / 1000)} ms"
    return Measured(large.value / small.value, large.command, note)


def writes_against_memories(facts: Facts) -> Measured:
    """Against the fastest of them, whatever it promises."""
    run, ours = _peers(facts)
    rate = _rate(facts, "quipu")
    others = [it for it in run.of_kind("memory") if it is not ours and best_rate(it, CLIENTS)]
    if not others:
        raise Lacking("no other memory was measured in this run")
    rival = max(others, key=lambda it: best_rate(it, CLIENTS) or 0.0)
    theirs = _rate(facts, rival.name)
    note = f"{number(rate)}/s against {rival.title}, {number(theirs)}/s"
    return Measured(rate / theirs, _together(run, "writes", rival.name), note)


def context_against_memories(facts: Facts) -> Measured:
    """At the largest size that another reached, too."""
    run, ours = _peers(facts)
    others = [it for it in run.of_kind("memory") if it is not ours]
    for row in reversed(ours.good("context")):
        rivals = rivals_at(others, row["units"])
        if rivals:
            middle, rival = min(rivals, key=lambda it: it[0])
            units = f"{row['units']:,} units"
            said = f"at {units}, {number(row['p50_ms'])} ms against {rival.title}, {number(middle)} ms"
            proviso = f", but only at {units}: no other reached more" if row["units"] < LARGE else ""
            return Measured(middle / row["p50_ms"], _together(run, "context", rival.name), said, proviso)
    raise Lacking("no other memory reached a size in this run")


def lost_writes(facts: Facts) -> Measured:
    """What Quipu lost."""
    run, ours = _peers(facts)
    if not any(row["kill"] for row in ours.good("survival")) or ours.failed("survival"):
        raise Lacking(ours.failed("survival") or "it was not killed in this run")
    kept = sum(row["acknowledged"] for row in ours.good("survival"))
    losers = [f"{it.title} {lost(it):,}" for it in run.systems if it is not ours and lost(it)]
    note = f"of {kept:,}; lost by others: {', '.join(losers) or 'nothing'}"
    return Measured(lost(ours), f"`python3 -m peers run --mode {run.mode} --steps survival`", note)


def disk(facts: Facts) -> Measured:
    """At the largest size."""
    run = _own(facts)
    largest = max(run.sizes(), default=LARGEST)
    payload = run.value("growth", "RECORD payload, mean")
    note = f"at {largest:,} units; the JSON of a RECORD has {number(payload)} bytes, most of them text"
    return own("growth", f"disk, {largest} units", note)(facts)
