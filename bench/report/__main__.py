"""`python3 -m report RUN [--page FILE]`: writes the page and its pictures from the raw results of a run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from peers.catalog import SYSTEMS

from .page import IMAGES, page, pictures
from .results import load


def write(run_folder: Path, target: Path) -> list[Path]:
    """Writes the page and the pictures beside it; gives what was written."""
    run = load(run_folder, [system.name for system in SYSTEMS])
    folder = target.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    written = [target]
    target.write_text(page(run, f"bench/runs/{run_folder.name}"))
    for name, text in pictures(run).items():
        written.append(folder / name)
        written[-1].write_text(text)
    return written


def main() -> int:
    """Does what is asked."""
    parser = argparse.ArgumentParser(prog="report", description=__doc__)
    parser.add_argument("run", type=Path, help="a folder of raw results, such as runs/DATE-peers")
    parser.add_argument("--page", type=Path, default=Path("../docs/benchmarks.md"), help="where to write [%(default)s]")
    options = parser.parse_args()
    for path in write(options.run, options.page):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
