"""Reads Quipu's own figures: `run.json`, and a folder with `raw.csv` for each step, as `quipu-bench` writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .results import Row, stored

SPREAD = ("p50", "p95", "p99")


@dataclass(frozen=True)
class Figure:
    """One line of a `raw.csv`."""

    what: str
    value: float
    unit: str


@dataclass(frozen=True)
class Own:
    """One run of Quipu alone."""

    folder: Path
    about: Row
    figures: dict[str, list[Figure]]

    @property
    def steps(self) -> list[Row]:
        """What was run, in order."""
        return list(self.about["steps"])

    def step(self, name: str) -> Row:
        """What is known of one."""
        missing = {"name": name, "status": "not run", "why": "it was not asked for in this run"}
        return next((row for row in self.steps if row["name"] == name), missing)

    def value(self, step: str, what: str) -> float | None:
        """One figure, where the step ran and gave it."""
        return next((figure.value for figure in self.figures.get(step, []) if figure.what == what), None)

    def sizes(self) -> list[int]:
        """The sizes that the Field was grown to."""
        found = (re.fullmatch(r"ATTUNE, (\d+) units p50", figure.what) for figure in self.figures.get("growth", []))
        return [int(match[1]) for match in found if match]


def read(path: Path) -> list[Figure]:
    """The figures of a file; what they are called may hold commas."""
    lines = [line.rsplit(",", 2) for line in path.read_text().splitlines()[1:]]
    return [Figure(what, float(value), unit) for what, value, unit in lines]


def load(folder: Path) -> Own:
    """A run's results; of steps that did not come to their end there is nothing."""
    about = stored(folder / "run.json")
    ran = [row["name"] for row in about["steps"] if row["status"] == "ok"]
    paths = {name: folder / name / "raw.csv" for name in ran}
    return Own(folder, about, {name: read(path) for name, path in paths.items() if path.exists()})
