"""Reads the raw results of one run: `run.json`, and a file for each system."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def stored(path: Path) -> Row:
    """What a run left in a file; `quipu-bench` was a command of `quipu` in the runs before it had a name of its own."""
    found: Row = json.loads(path.read_text().replace("quipu bench ", "quipu-bench "))
    return found


BUSY = 0.2


def busy(machine: Row) -> str:
    """Whether others worked on the machine, in words; empty where it was quiet."""
    cores = machine["busy_cores"]
    if cores <= BUSY * machine["cores"]:
        return ""
    return (
        f"**The machine was busy with other work ({cores} of {machine['cores']} cores): compare orders of magnitude.**"
    )


@dataclass(frozen=True)
class System:
    """What is known of one system."""

    raw: Row

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return str(self.raw["peer"])

    @property
    def title(self) -> str:
        """Its name for readers."""
        return str(self.raw.get("title", self.name))

    @property
    def kind(self) -> str:
        """`memory` or `log`."""
        return str(self.raw.get("kind", "memory"))

    def rows(self, step: str) -> list[Row]:
        """What a step gave."""
        return [row for row in self.raw.get("steps", []) if row["step"] == step]

    def good(self, step: str) -> list[Row]:
        """What a step gave where it went well."""
        return [row for row in self.rows(step) if row["status"] == "ok"]

    def failed(self, step: str) -> str:
        """Why a part of a step has no figures; empty where all of it has."""
        told = [f"{row['status']}: {row.get('why', '')}" for row in self.rows(step) if row["status"] != "ok"]
        return "; ".join(told) or str(self.raw.get("ended", ""))

    def command(self, step: str, mode: str) -> str:
        """What measures this again."""
        data = " --data DATA" if step == "recall" else ""
        return f"`python3 -m peers run --mode {mode} --only {self.name} --steps {step}{data}`"

    def lack(self, step: str) -> str:
        """Why a step has no figures; empty where it has."""
        if self.good(step):
            return ""
        if self.raw.get("status") == "not run":
            return str(self.raw["why"])
        told = [f"{row['status']}: {row['why']}" for row in self.rows(step) if row.get("why")]
        return "; ".join(told) or str(self.raw.get("ended", "not asked for in this run"))


@dataclass(frozen=True)
class Run:
    """One run."""

    folder: Path
    about: Row
    systems: list[System]

    @property
    def mode(self) -> str:
        """How much work it was."""
        return str(self.about["mode"])

    def of_kind(self, kind: str) -> list[System]:
        """The systems of a kind."""
        return [system for system in self.systems if system.kind == kind]

    def named(self, name: str) -> System | None:
        """One system."""
        return next((system for system in self.systems if system.name == name), None)


def load(folder: Path, order: list[str] | None = None) -> Run:
    """A run's results, Quipu first and the others as they are listed, or by name."""
    about = stored(folder / "run.json")
    raws = [stored(path) for path in sorted(folder.glob("*.json")) if path.name != "run.json"]
    places = {name: place for place, name in enumerate(order or [])}

    def place(system: System) -> tuple[bool, int, str]:
        return system.name != "quipu", places.get(system.name, len(places)), system.name

    return Run(folder, about, sorted((System(raw) for raw in raws if "peer" in raw), key=place))
