"""How much work: `quick` takes minutes for all systems, `full` an evening."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mode:
    """The sizes of all work."""

    name: str
    write_seconds: float
    clients: tuple[int, ...]
    sizes: tuple[int, ...]
    fill_seconds: float
    questions: int
    corpora: int
    survival_writes: int
    survival_rounds: int
    limit_seconds: float


MODES = {
    "smoke": Mode("smoke", 1, (1, 8), (200,), 30, 20, 1, 80, 1, 600),
    "quick": Mode("quick", 3, (1, 8, 64), (1_000, 10_000), 45, 100, 1, 400, 1, 420),
    "full": Mode("full", 8, (1, 8, 64), (1_000, 10_000, 100_000), 900, 500, 1_000, 2_000, 5, 5_400),
}
