"""`python3 -m peers`: list, install, run."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from .catalog import SYSTEMS, named
from .measuring import STEPS, Results, measure
from .places import Home, default_home
from .runner import Plan, run
from .work.modes import MODES

EXAMPLES = """
examples:
  python3 -m peers list
  python3 -m peers run --mode quick --data DATA
  python3 -m peers run --mode full --only redis postgres --steps writes
"""


def parser() -> argparse.ArgumentParser:
    """The options."""
    top = argparse.ArgumentParser(
        prog="peers", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    calls = top.add_subparsers(dest="call", required=True)
    calls.add_parser("list", help="name the systems, with their versions")
    fill = calls.add_parser("install", help="install systems and do nothing else")
    every = calls.add_parser("run", help="measure systems, one after the other")
    single = calls.add_parser("one", help="measure one system; what `run` starts for each")
    single.add_argument("name")
    single.add_argument("--embeddings", required=True, help="URL of the embeddings stub")
    for call in (fill, every, single):
        call.add_argument(
            "--home", type=Path, default=default_home(), help="where to install and keep data [%(default)s]"
        )
        call.add_argument("--quipu", type=Path, help="the quipu binary [QUIPU_BIN, or the one on the path]")
    for call in (fill, every):
        call.add_argument("--only", nargs="+", metavar="NAME", help="these systems [all]")
    today = Path("runs") / f"{datetime.now(UTC):%Y-%m-%d}-peers"
    for call in (every, single):
        call.add_argument("--out", type=Path, default=today, help="folder of the raw results [%(default)s]")
        call.add_argument("--mode", choices=list(MODES), default="quick", help="how much work [%(default)s]")
        call.add_argument("--steps", default=",".join(STEPS), help="which work [%(default)s]")
        call.add_argument("--data", type=Path, help="labelled data for recall, as `quipu-bench recall DATA` reads it")
    every.add_argument(
        "--leave-out", nargs=2, action="append", metavar=("NAME", "WHY"), help="do not run this system, and say why"
    )
    every.add_argument("--minutes", type=float, help="for all of them, in even shares [15; 45 with --mode full]")
    every.add_argument("--vectors", choices=("builtin", "hash"), default="builtin", help="the stub's model")
    return top


def main() -> int:
    """Does what is asked."""
    options = parser().parse_args()
    if options.call == "list":
        for system in SYSTEMS:
            print(f"{system.name:18} {system.kind:7} {system.version:17} {system.setup}")
        return 0
    if options.quipu:
        os.environ["QUIPU_BIN"] = str(options.quipu.resolve())
    home = Home(options.home.resolve())
    if options.call == "one":
        peer = named(options.name)(home, options.embeddings)
        peer.install()
        known = {**peer.describe(), "mode": options.mode}
        results = Results(options.out / f"{peer.name}.json", known, options.steps.split(","))
        measure(peer, MODES[options.mode], options.steps.split(","), options.data, results)
        return 0
    names = [named(name).name for name in options.only] if options.only else [system.name for system in SYSTEMS]
    if options.call == "install":
        for name in names:
            print(name, flush=True)
            named(name)(home, "").install()
        return 0
    data = options.data.resolve() if options.data else None
    steps = options.steps.split(",")
    out = options.out.resolve()
    left_out = dict(options.leave_out or [])
    mode = MODES[options.mode]
    minutes = mode.minutes if options.minutes is None else options.minutes
    return run(Plan(home, out, mode, names, steps, data, options.vectors, left_out, minutes))


if __name__ == "__main__":
    sys.exit(main())
