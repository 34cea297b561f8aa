"""The part of the page about Quipu alone: the figures to reach, growth, and all else that `quipu-bench` told."""

from __future__ import annotations

from . import plots
from .bars import BARS, limits
from .measures import Facts, Lacking
from .own import SPREAD, Figure, Own
from .results import busy
from .wording import milliseconds, number, seconds, size, table

IMAGES = "images/benchmarks"
TOLD_ABOVE = ("growth",)


def goals(facts: Facts) -> str:
    """Every figure to reach: how much was asked and measured, whether it holds, what limits it, what gives it again."""
    known = limits()
    noise = ", on a busy machine" if any(busy(it.about["machine"]) for it in (facts.own, facts.peers) if it) else ""
    rows = []
    for bar in BARS:
        limit = known.get(bar.name, "not yet profiled")
        try:
            found = bar.measure(facts)
        except Lacking as why:
            rows.append([bar.what, bar.asked(), f"not measured: {why}", "", limit, ""])
            continue
        note = f" ({found.note})" if found.note else ""
        measured = f"**{bar.told(found.value)}**{note}"
        verdict = f"{bar.verdict(found.value)}{found.proviso}{noise}"
        rows.append([bar.what, bar.asked(), measured, verdict, limit, found.command])
    heads = ["what", "bar; stretch", "measured", "verdict", "what limits it", "command"]
    return f"""
## The figures to reach

{table(heads, rows)}

`quipu` is the binary of `cargo build --release`, `target/release/quipu`; `python3 -m peers` is run in the folder
`bench` and takes it by `--quipu`.
"""


def machine(own: Own) -> str:
    """What it ran on, and whether it was alone."""
    it, about = own.about["machine"], own.about
    return (
        f"Quipu alone: `{about['mode']}` run of {about['at']}, revision `{about['revision']}`, {it['cores']} cores of "
        f"{it['processor']}, {size(it['memory_bytes'])}, {it['system']}. {_older(own)}{busy(it)}"
    ).strip()


def _older(own: Own) -> str:
    """The steps that were kept from an earlier run of the day."""
    revision = own.about["revision"]
    older = [f"{step['name']} ({step['revision']})" for step in own.steps if step["revision"] != revision]
    return f"Of an earlier revision: {', '.join(older)}. " if older else ""


def growth(own: Own) -> str:
    """RECORD, ATTUNE and weight by size."""
    sizes = own.sizes()
    if not sizes:
        return ""
    image = f"![Quipu while it grows]({IMAGES}/growth.svg)" if plots.growth(own) else ""
    each = ["in the server", "processor time"]
    heads = ["units", "RECORD", *each, "ATTUNE", *each, "memory", "disk a unit", "open"]
    return f"""
## Growth

One Field that grows, one client. RECORD is durable and with detection; ATTUNE has a hint and is given ten units.
p50 / p95 / p99 on the client's clock, over loopback; p50 by the server's own clock; the server's processor time for
one of them, whatever it does on other threads included.
What a server does beside its work is waited for first: it goes through the log that it opened, and looks for
contradictions in what was recorded.

{image}

{table(heads, [_size(own, units) for units in sizes])}

Command: `{own.step("growth")["command"]}`
"""


def _size(own: Own, units: int) -> list[str]:
    def value(what: str) -> float | None:
        return own.value("growth", what)

    cells = [f"{units:,}"]
    for name in ("RECORD", "ATTUNE"):
        what = f"{name}, {units} units"
        spread = [value(f"{what} {share}") for share in SPREAD]
        cells.append(" / ".join(number(it / 1000) for it in spread if it is not None) + " ms")
        each = (value(f"{what}; in the server p50"), value(f"{what}: processor time"))
        cells.extend(milliseconds(None if spent is None else spent / 1000) for spent in each)
    memory = value(f"resident memory, {units} units")
    cells.append(size(None if memory is None else memory * 2**20))
    return [*cells, size(value(f"disk, {units} units")), seconds(value(f"opened, {units} units"))]


def rest(own: Own) -> str:
    """Each step as it was told, and those that were not run."""
    parts = ["## More of Quipu alone"]
    for step in own.steps:
        name = step["name"]
        if name in TOLD_ABOVE and step["status"] == "ok":
            continue
        told = table(["what", "figure"], lines(own.figures[name])) if name in own.figures else ""
        lack = f"{step['status']}: {step['why']}" if step["status"] != "ok" else ""
        parts.append(f"### `{step['command']}`\n\n{told or lack}")
    return "\n\n".join(parts)


def lines(figures: list[Figure]) -> list[list[str]]:
    """Figures as rows; the spread and the rate of one thing are one row."""
    rows: dict[str, list[str]] = {}
    for figure in figures:
        what, _, last = figure.what.rpartition(" ")
        if last in SPREAD and figure.unit == "us":
            rows.setdefault(what, []).append(f"{last} {milliseconds(figure.value / 1000)}")
        elif last == "rate" and what in rows:
            rows[what].append(f"{number(figure.value)}/s")
        else:
            rows.setdefault(figure.what.strip(), []).append(f"{number(figure.value)} {figure.unit}".strip())
    return [[what, ", ".join(told)] for what, told in rows.items()]
