"""`python3 -m report`: writes the page and its pictures from raw results, of the newest runs unless told otherwise."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from peers.catalog import SYSTEMS

from . import own
from .alone import IMAGES
from .measures import Facts
from .page import page, pictures
from .results import load

RUNS = Path("runs")


def newest(runs: Path, kind: str) -> Path | None:
    """The folder of the last day that has results of a kind; their names begin with the day."""
    return max((path.parent for path in runs.glob(f"*-{kind}/run.json")), default=None, key=lambda path: path.name)


def write(own_folder: Path | None, peers_folder: Path | None, target: Path) -> list[Path]:
    """Writes the page and the pictures beside it; gives what was written."""
    peers = load(peers_folder, [system.name for system in SYSTEMS]) if peers_folder else None
    facts = Facts(own.load(own_folder) if own_folder else None, peers)
    folder = target.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    written = [target]
    target.write_text(page(facts))
    for name, text in pictures(facts).items():
        written.append(folder / name)
        written[-1].write_text(text)
    return written


def main() -> int:
    """Does what is asked."""
    parser = argparse.ArgumentParser(prog="report", description=__doc__)
    parser.add_argument("--own", type=Path, help="results of Quipu alone [the newest runs/DATE-quipu]")
    parser.add_argument("--peers", type=Path, help="results of the others beside it [the newest runs/DATE-peers]")
    parser.add_argument("--page", type=Path, default=Path("../docs/benchmarks.md"), help="where to write [%(default)s]")
    options = parser.parse_args()
    for path in write(options.own or newest(RUNS, "quipu"), options.peers or newest(RUNS, "peers"), options.page):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
