"""What the systems of a run are compared by: the better rate of writes, the losses, the times of context."""

from __future__ import annotations

from .results import System


def lost(system: System) -> int:
    """Acknowledged writes that are not there."""
    return sum(row["lost"] for row in system.good("survival"))


def best_rate(system: System, clients: int) -> float | None:
    """The better of our generator's and its own."""
    rows = [row for row in system.good("writes") if row["clients"] == clients]
    return max((max(row["per_second"], row.get("own", {}).get("per_second", 0.0)) for row in rows), default=None)


def rivals_at(others: list[System], units: int) -> list[tuple[float, System]]:
    """The middle time of context of those that reached a size and found something."""
    return [
        (float(row["p50_ms"]), system)
        for system in others
        for row in system.good("context")
        if row["units"] == units and row["found"] > 0
    ]
