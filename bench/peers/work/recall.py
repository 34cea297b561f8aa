"""Evidence recall: how much of what a question needs is among the first ten, on labelled data given by its path.

The data has the format that `quipu-bench recall` reads, and the work is the same: each corpus is a store of its own,
its units are written in order, each question is asked by an agent that wrote none of them. Questions name people and
dates. Where a system does not rank by author, each text therefore begins with who said it and when; that is better for
all of them than the bare text.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import figures
from ..load import drive
from ..peer import Peer
from ..units import READER, Unit
from .modes import Mode
from .writes import requests

DEPTH = 10
ADVERSARIAL = "adversarial"


@dataclass
class Outcome:
    """How the questions of one set went."""

    recalls: list[tuple[str, float]] = field(default_factory=list)
    times_ms: list[float] = field(default_factory=list)
    units: int = 0
    refused: int = 0

    def row(self) -> dict[str, Any]:
        """In figures; adversarial questions have no true answer and stay out of the headline."""
        categories = sorted({category for category, _ in self.recalls})
        counted = [recall for category, recall in self.recalls if category != ADVERSARIAL]
        return {
            "units": self.units,
            "questions": len(counted),
            "recall_at_10": _mean(counted),
            "by_category": {
                name: _mean([it for category, it in self.recalls if category == name]) for name in categories
            },
            "refused": self.refused,
            **figures.spread(self.times_ms),
        }


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def sets(path: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The labelled sets of a file or a folder, by name."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    for file in files:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        yield file.name.split(".json")[0], json.loads(raw)["corpora"]


def recall(peer: Peer, mode: Mode, data: Path) -> Iterator[dict[str, Any]]:
    """A row for each set."""
    for name, corpora in sets(data):
        outcome = Outcome()
        for corpus in corpora[: mode.corpora]:
            play(peer, corpus, outcome)
        yield {"set": name, "corpora": len(corpora[: mode.corpora]), "of": len(corpora), **outcome.row()}


def _unit(entry: dict[str, str], *, bare: bool) -> Unit:
    text = entry["text"] if bare else f"{entry['agent']} ({entry['time']}): {entry['text']}"
    return Unit(entry["id"], entry["agent"], entry["session"], text)


def play(peer: Peer, corpus: dict[str, Any], outcome: Outcome) -> None:
    """Writes one corpus and asks its questions."""
    units = [_unit(entry, bare=peer.knows_authors) for entry in corpus["units"]]
    peer.start(peer.home.fresh(f"{peer.name}-recall"))
    try:
        peer.prepare(sorted({unit.agent for unit in units}))
        written = drive(peer.wire, peer.address, requests(peer, iter(units)), clients=1, keep=True)
        names = {peer.acknowledged(answer, unit): unit.id for unit, answer in written.answers}
        outcome.units += len(names)
        outcome.refused += len(written.refusals)
        asked = ((query, peer.context(READER, query["text"], DEPTH)) for query in corpus["queries"] if query["gold"])
        load = drive(peer.wire, peer.address, asked, clients=1, keep=True)
        outcome.refused += len(load.refusals)
        outcome.times_ms.extend(load.times_ms)
        nothing: list[tuple[Any, list[str]]] = [(query, []) for query in load.refused]
        for query, ids in [(query, peer.found(answer)) for query, answer in load.answers] + nothing:
            found = [names[entry] for entry in ids if entry in names]
            outcome.recalls.append((query["category"], figures.recall(found, query["gold"], DEPTH)))
    finally:
        peer.stop()
