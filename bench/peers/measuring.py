"""One system, measured from its installation to its last step; what is known so far is always in its file."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .machine import probe
from .peer import CannotRun, Peer
from .wire.base import Gone, Refused
from .work.context import context
from .work.modes import Mode
from .work.recall import recall
from .work.starting import starting
from .work.survival import survival
from .work.weight import weight
from .work.writes import writes

STEPS = ("start", "writes", "survival", "recall", "context", "weight")
"""What grows comes last: where a turn ends early, the largest size is what is missing."""


def applies(step: str, peer: Peer, data: Path | None) -> bool:
    """Whether this kind of system does this kind of work."""
    if step == "recall":
        return peer.kind == "memory" and data is not None
    if step == "context":
        return peer.kind == "memory"
    return step != "weight" or peer.kind == "log"


def doing(step: str, peer: Peer, mode: Mode, data: Path | None) -> Callable[[], Iterable[dict[str, Any]]]:
    """The work of a step."""
    if step == "recall" and data is not None:
        return lambda: recall(peer, mode, data)
    work: dict[str, Callable[[Peer, Mode], Iterable[dict[str, Any]]]]
    work = {"start": starting, "writes": writes, "survival": survival, "context": context, "weight": weight}
    return lambda: work[step](peer, mode)


class Results:
    """A file of results that is whole after every row.

    Steps that are not asked for stay as they were, if the file is of the same mode and version.
    """

    def __init__(self, path: Path, known: dict[str, Any], steps: list[str]) -> None:
        before: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        same = all(before.get(name) == known.get(name) for name in ("mode", "version"))
        kept = [row for row in before.get("steps", []) if row["step"] not in steps] if same else []
        self.path, self.known = path, {**known, "steps": kept}
        self.save()

    def save(self) -> None:
        """Writes the file anew."""
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(json.dumps(self.known, indent=1) + "\n")
        fresh.replace(self.path)

    def add(self, step: str, row: dict[str, Any]) -> None:
        """One more row of a step; it says `ok` unless it says otherwise."""
        self.known["steps"].append({"step": step, "status": "ok", **row})
        self.save()


def not_run(path: Path, known: dict[str, Any], why: str) -> None:
    """Tells of a system that has no figures, and why."""
    path.write_text(json.dumps({**known, "status": "not run", "why": why, "steps": []}, indent=1) + "\n")


def measure(peer: Peer, mode: Mode, steps: list[str], data: Path | None, results: Results) -> None:
    """Does the steps; one that fails is told as not run, with the reason, and the next begins."""
    results.known |= {"sync": probe(peer.home.data), "at": datetime.now(UTC).isoformat(timespec="seconds")}
    results.save()
    for step in [step for step in steps if applies(step, peer, data)]:
        begun = time.monotonic()
        try:
            for row in doing(step, peer, mode, data)():
                results.add(step, row)
        except CannotRun as reason:
            results.add(step, {"status": "not run", "why": str(reason)})
        except (OSError, Refused, Gone, RuntimeError, ValueError, KeyError, IndexError) as error:
            traceback.print_exc()
            results.add(step, {"status": "failed", "why": f"{type(error).__name__}: {error}"[:600]})
        finally:
            peer.kill()
        print(f"{peer.name}: {step} {time.monotonic() - begun:.1f} s", flush=True)
    results.known["status"] = "ok"
    results.save()
