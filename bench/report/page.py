"""The page: what was done, the tables and the pictures in order, and what is unfair about each of them."""

from __future__ import annotations

from collections.abc import Callable

from . import alone, plots, tables
from .alone import IMAGES
from .measures import Facts
from .rates import best_rate, lost, rivals_at
from .results import Row, Run, System, busy
from .wording import milliseconds, number, size, table, times


def pictures(facts: Facts) -> dict[str, str]:
    """Every picture by the name of its file."""
    drawn = {"growth": plots.growth(facts.own)} if facts.own else {}
    run = facts.peers
    if run:
        drawn |= {"latency-by-size": plots.latency_by_size(run), "survival": plots.survival(run)}
        drawn |= {f"recall-{name}": plots.recall_by_latency(run, name) for name in tables.sets(run)}
    return {f"{name}.svg": text for name, text in drawn.items() if text}


def page(facts: Facts) -> str:
    """All of it: the figures to reach, Quipu alone, Quipu beside others."""
    own = facts.own
    parts = [_head(facts), alone.goals(facts)]
    if own:
        parts += [alone.growth(own), alone.rest(own)]
    if facts.peers:
        parts.append(_beside(facts.peers))
    parts.append(_again())
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _head(facts: Facts) -> str:
    folders = [it.folder.name for it in (facts.own, facts.peers) if it]
    sources = " and ".join(f"`bench/runs/{name}`" for name in folders)
    said = alone.machine(facts.own) if facts.own else "Quipu alone was not measured in this run."
    return f"""
# Quipu, measured

This page is written by `python3 -m report` from the raw results in {sources}. Do not edit it;
`cargo xtask bench` measures again and writes it anew. {said}
"""


def _beside(run: Run) -> str:
    parts: list[Callable[[], str]] = [
        lambda: _intro(run),
        lambda: _short(run),
        lambda: _machine(run),
        lambda: "## What is compared\n\n" + tables.systems(run),
        lambda: _writes(run),
        lambda: _context(run),
        lambda: _recall(run),
        lambda: _survival(run),
        lambda: _weight(run),
        lambda: _unfair(run),
    ]
    return "\n\n".join(part().strip() for part in parts if part().strip())


def _intro(run: Run) -> str:
    return f"""
## Beside what you would pick instead

All systems ran on one machine, in one run, one after the other, with the same texts and the same questions.
{_caution(run)}
"""


def _caution(run: Run) -> str:
    said = "" if run.mode == "full" else f"This was a `{run.mode}` run: small sizes, short times. "
    return (said + busy(run.about["machine"])).strip()


def _short(run: Run) -> str:
    """Quipu against the best of the others, by the figures of this run alone."""
    ours = run.named("quipu")
    if ours is None:
        return ""
    others = [system for system in run.of_kind("memory") if system is not ours]
    rows = [*_rates(ours, others, run.named("redis")), *_syncs(ours), *_middles(ours, others)]
    losers = ", ".join(f"{system.title} {lost(system):,}" for system in run.systems if lost(system)) or "nobody"
    kept = sum(row["acknowledged"] for row in ours.good("survival"))
    rows.append(["acknowledged writes that Quipu lost", f"{lost(ours)} of {kept:,}", f"lost by: {losers}"])
    return "## In short\n\n" + table(["what", "Quipu", "beside"], rows)


def _rates(ours: System, others: list[System], redis: System | None) -> list[list[str]]:
    clients = max((row["clients"] for row in ours.good("writes")), default=0)
    own = best_rate(ours, clients)
    if not own:
        return []
    said = f"durable writes, {clients} clients"
    rows = []
    rated = [(rate, system) for system in others if (rate := best_rate(system, clients))]
    for loses, what in ((False, "the fastest memory that lost nothing"), (True, "the fastest memory that lost writes")):
        rivals = [(rate, system.title) for rate, system in rated if bool(lost(system)) == loses]
        if rivals:
            rate, title = max(rivals)
            rows.append([said, f"{number(own)}/s", f"{times(own / rate)} {what}, {title} ({number(rate)}/s)"])
    if redis and (rate := best_rate(redis, clients)):
        rows.append(
            [said, f"{number(own)}/s", f"{times(own / rate)} a Redis stream that syncs each write ({number(rate)}/s)"]
        )
    return rows


def _syncs(ours: System) -> list[list[str]]:
    """How near one client comes to what the disk allows."""
    alone = next((row for row in ours.good("writes") if row["clients"] == 1), None)
    sync = ours.raw.get("sync", {}).get("p50_ms")
    if not alone or not sync:
        return []
    middle = min(alone["p50_ms"], alone.get("own", alone)["p50_ms"])
    beside = f"{times(middle / sync)} a sync of 900 bytes on this disk ({milliseconds(sync)})"
    return [["durable writes, 1 client, p50", milliseconds(middle), beside]]


def _middles(ours: System, others: list[System]) -> list[list[str]]:
    rows = []
    for row in ours.good("context"):
        rivals = rivals_at(others, row["units"])
        beside = "no other reached this size"
        if rivals:
            middle, rival = min(rivals, key=lambda it: it[0])
            slower = times(middle / row["p50_ms"])
            beside = f"the fastest other, {rival.title}, takes {slower} as long ({milliseconds(middle)})"
        rows.append([f"context at {row['units']:,} units, p50", milliseconds(row["p50_ms"]), beside])
    return rows


def _machine(run: Run) -> str:
    about = run.about
    machine, stub = about["machine"], about["stub"]
    rows = [
        [
            "machine",
            f"{machine['cores']} cores, {machine['processor']}, {size(machine['memory_bytes'])}, {machine['system']}",
        ],
        ["busy with other work at the start", f"{machine['busy_cores']} cores"],
        [
            "a sync of a 900-byte append",
            f"p50 {milliseconds(about['sync']['p50_ms'])}, p99 {milliseconds(about['sync']['p99_ms'])}",
        ],
        ["one call of the embeddings stub, known text", _stub(stub["known_1"])],
        ["the same, new text", _stub(stub["new_1"])],
        ["the same, known text, 8 clients", _stub(stub["known_8"])],
        ["one empty call of a host of a library", _hop(run)],
        ["measured", f"{about['at']}, mode `{run.mode}`, Python {machine['python']}"],
    ]
    return f"""
## The machine, and what the tools cost

{table(["what", "figure"], rows)}

The vectors are those of the model that Quipu has built in, 256 numbers a text. Systems that take an OpenAI-compatible
endpoint, or vectors with each text, get them from a stub on the loopback address; its calls are part of their times.
The load comes from one thread that waits on sockets: `limited by our generator` marks figures where it took more than
0.8 of a core. Where a system has a load generator of its own, its figures have a row of their own.
"""


def _hop(run: Run) -> str:
    hops = [row["hop_p50_ms"] for system in run.systems for row in system.good("start") if "hop_p50_ms" in row]
    return f"p50 {milliseconds(min(hops))} to {milliseconds(max(hops))}" if hops else ""


def _stub(row: Row) -> str:
    return f"p50 {milliseconds(row['p50_ms'])}, p99 {milliseconds(row['p99_ms'])}, {number(row['per_second'])}/s"


def _writes(run: Run) -> str:
    return f"""
## Durable single writes

Units of 500 bytes of text. Each client sends one and waits for the answer. In brackets p50 / p99. A system that does
not sync each write (see the last column above) does less work here, and a power cut takes what it acknowledged.

{tables.writes(run)}
"""


def _context(run: Run) -> str:
    image = f"![Latency by size]({IMAGES}/latency-by-size.svg)" if plots.latency_by_size(run) else ""
    return f"""
## Context for an agent

One client, ten units wanted, a hint of eight words. p50 / p95 / p99. Where a size was not reached in the time for
filling ({number(run.about["settings"]["fill_seconds"])} s), the cell says how far it came.

{image}

{tables.context(run)}
"""


def _recall(run: Run) -> str:
    names = tables.sets(run)
    if not names:
        return ""
    images = "\n\n".join(f"![Recall by latency, {name}]({IMAGES}/recall-{name}.svg)" for name in names)
    corpora = [row for system in run.systems for row in system.good("recall")]
    part = any(row["corpora"] < row["of"] for row in corpora)
    less = " Only the first corpora of each set were played." if part else ""
    return f"""
## Evidence recall

How much of what a question needs is among the first ten units. No model judges anything. Adversarial questions are
left out.{less} Quipu is given who said a unit as its author. The others rank by the text alone, so their texts begin
with who said it and when, which raises their recall; Quipu is not told when. DATA is a file or folder as
`quipu-bench recall DATA` reads it.

{images}

{tables.recall(run)}
"""


def _survival(run: Run) -> str:
    image = f"![Survival of acknowledged writes]({IMAGES}/survival.svg)" if plots.survival(run) else ""
    return f"""
## Acknowledged writes that survive

Eight clients write at once; the system is then stopped in order, or killed with `kill -9` in their midst, and started
again over the same files. Lost is what was acknowledged and is not there. A kill of the process leaves what the kernel
has: it does not show what a power cut would take from a system that does not sync. Libraries are opened once by one
process that all clients share, and once by a process for each client, as agents on one machine would; not all of them
promise to bear that, and a write that is refused is not lost.

{image}

{tables.survival(run)}
"""


def _weight(run: Run) -> str:
    return f"""
## Start-up, memory, disk

Start is from the start of the process to the first request taken. Memory is the proportional set size of all its
processes. Disk a unit is what the data directory grew by, over the units, once it has ended in order.

{tables.weight(run)}
"""


def _unfair(run: Run) -> str:
    sayings: dict[str, list[str]] = {}
    for system in run.systems:
        for said in system.raw.get("unfair", []):
            sayings.setdefault(said, []).append(system.title)
    lines = [f"- **{', '.join(titles)}.** {said}" for said, titles in sayings.items()]
    ended = [f"- **{system.title}.** {why}" for system in run.systems if (why := _unfinished(system))]
    told = "\n".join(lines)
    missing = "\n\n### Not run, or not to the end\n\n" + "\n".join(ended) if ended else ""
    absent = [f"- **{name}**: {why}." for name, why in run.about.get("absent", {}).items()]
    others = "\n\n### Not compared\n\n" + "\n".join(absent) if absent else ""
    return f"## What is unfair\n\n{told}{missing}{others}"


def _unfinished(system: System) -> str:
    if system.raw.get("status") == "not run":
        return str(system.raw["why"])
    whys = [
        f"{row['step']}: {row['why']}" for row in system.raw.get("steps", []) if row["status"] in ("failed", "not run")
    ]
    if system.raw.get("ended"):
        whys.append(str(system.raw["ended"]))
    return "; ".join(whys)


def _again() -> str:
    return """
## To measure again

`cargo xtask bench` builds the binary, measures all of this in about 25 minutes and writes this page;
`cargo xtask bench --full` takes about an hour, with larger sizes and more repetitions. `cargo xtask help` has the
options. What single rows need:

```sh
cargo build --release -p quipu-cli -p quipu-bench                    # target/release/quipu, and quipu-bench beside it
cd bench
python3 -m peers list                                                # the others, with their versions
python3 -m peers run --mode quick --quipu ../target/release/quipu    # 15 minutes; --mode full takes 45
python3 -m report                                                    # this page and its pictures, from the newest runs
```

It needs Python 3.11 or newer, Node.js with npm, cargo, and root or the named packages of Debian (`redis-server`,
`postgresql`, `strace`) in place. The others are installed by name and version below `--home` (a folder of the user's
cache, unless told otherwise); the data of a system is removed when its turn ends. As root, choose a `--home` that
other users can reach: PostgreSQL refuses to run as root and is run as another user.
"""
