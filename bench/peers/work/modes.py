"""How much work: `quick` takes minutes for all systems, `full` less than an hour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mode:
    """The sizes of all work. They are such that a system of usual speed is done within its turn."""

    name: str
    write_seconds: float
    clients: tuple[int, ...]
    sizes: tuple[int, ...]
    fill_seconds: float
    """For filling a system up to the largest of the sizes."""
    ask_seconds: float
    """For the questions at one size."""
    questions: int
    corpora: int
    """Of each labelled set."""
    survival_writes: int
    survival_rounds: int
    minutes: float
    """For all systems together, unless the caller says otherwise."""


MODES = {
    mode.name: mode
    for mode in (
        Mode(
            name="smoke",
            write_seconds=1,
            clients=(1, 8),
            sizes=(200,),
            fill_seconds=30,
            ask_seconds=10,
            questions=20,
            corpora=1,
            survival_writes=80,
            survival_rounds=1,
            minutes=30,
        ),
        Mode(
            name="quick",
            write_seconds=3,
            clients=(1, 8, 64),
            sizes=(1_000, 10_000),
            fill_seconds=45,
            ask_seconds=10,
            questions=100,
            corpora=1,
            survival_writes=400,
            survival_rounds=1,
            minutes=15,
        ),
        Mode(
            name="full",
            write_seconds=5,
            clients=(1, 8, 64),
            sizes=(1_000, 10_000, 100_000),
            fill_seconds=150,
            ask_seconds=20,
            questions=300,
            corpora=3,
            survival_writes=800,
            survival_rounds=2,
            minutes=45,
        ),
    )
}
