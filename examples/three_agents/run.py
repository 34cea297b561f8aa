"""Three agents write about a lighthouse: `python examples/three_agents/run.py`. No model key is needed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from uuid import uuid4

try:
    import quipu
except ImportError:
    sys.exit("The Python SDK is not installed: pip install ./sdk/python")

from serving import server
from story import Story


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a server that runs already; its key is taken from QUIPU_KEY")
    parser.add_argument(
        "--keep", metavar="DIR", nargs="?", const=Path("three-agents-data"), type=Path, help="keep the data there"
    )
    chosen = parser.parse_args()
    if chosen.url:
        # A world of its own, so that what is there already has no part in it.
        tell(chosen.url, f"three-agents-{uuid4().hex[:6]}")
        return
    with server(chosen.keep) as url:
        tell(url, "default")
    if chosen.keep:
        print(f"\nThe data is in {chosen.keep}. To look at it: quipu serve --dev --data {chosen.keep}")


def tell(url: str, name: str) -> None:
    """The whole story in this Field."""
    with quipu.Field(url, field=name) as field:
        print(f"A newsroom in the Field {name!r} at {url}: Rosa researches, Finn checks, Wilma writes.")
        Story(field).tell()
        print(f"\nAll of it is in one log: {field.status().position} commits, and nothing was overwritten.")


if __name__ == "__main__":
    main()
