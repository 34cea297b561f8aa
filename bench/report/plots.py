"""The pictures: Quipu while it grows, latency by size, recall by latency, survival of acknowledged writes."""

from __future__ import annotations

from .own import Own
from .results import Row, Run, System
from .svg import OURS, PALETTE, Picture, Scale, apart, around, axes

WIDTH, HEIGHT = 860, 440
LABELS = 190
KEPT, LOST = "#4f8a5b", "#b3261e"


def color_of(run: Run, system: System) -> str:
    """The same in all pictures."""
    if system.name == "quipu":
        return OURS
    others = [it.name for it in run.systems if it.name != "quipu"]
    return PALETTE[others.index(system.name) % len(PALETTE)]


def latency_by_size(run: Run) -> str | None:
    """Lines: p50 of context over the number of units."""
    lines = {system.name: system.good("context") for system in run.of_kind("memory") if system.good("context")}
    if not lines:
        return None
    picture = Picture(WIDTH, HEIGHT, "Context for an agent: p50 by number of units")
    sizes = [float(row["units"]) for rows in lines.values() for row in rows]
    middles = [float(row["p50_ms"]) for rows in lines.values() for row in rows]
    low, high = around(sizes)
    x = Scale(low, high, 70, WIDTH - LABELS, powers=True)
    y = Scale(*around(middles), HEIGHT - 60, 40, powers=True)
    axes(picture, x, y, "units in the store", "p50, ms")
    ends = []
    for system in [system for system in run.systems if system.name in lines]:
        points = [(x.at(row["units"]), y.at(row["p50_ms"])) for row in lines[system.name]]
        color = color_of(run, system)
        picture.line(points, color, 3.0 if system.name == "quipu" else 1.6)
        for place in points:
            picture.dot(*place, color)
        ends.append((points[-1], system.title, color))
    _label(picture, ends)
    return picture.render()


def _label(picture: Picture, ends: list[tuple[tuple[float, float], str, str]]) -> None:
    """Names beside the last points, none over another."""
    for ((x, _), said, color), y in zip(ends, apart([place[1] for place, _, _ in ends], 14), strict=True):
        picture.text(x + 10, y + 4, said, color=color)


def growth(own: Own) -> str | None:
    """Lines: RECORD and ATTUNE of Quipu over the number of units."""
    kinds = ("ATTUNE p99", "ATTUNE p50", "RECORD p99", "RECORD p50")
    lines = {}
    for kind, color in zip(kinds, (OURS, OURS, PALETTE[0], PALETTE[0]), strict=True):
        name, share = kind.split()
        values = [(units, own.value("growth", f"{name}, {units} units {share}")) for units in own.sizes()]
        lines[kind] = (color, [(float(units), value / 1000) for units, value in values if value])
    every = [point for _, points in lines.values() for point in points]
    if not every:
        return None
    picture = Picture(WIDTH, HEIGHT, "Quipu while it grows: RECORD and ATTUNE by number of units")
    x = Scale(*around([units for units, _ in every]), 70, WIDTH - LABELS, powers=True)
    y = Scale(*around([value for _, value in every]), HEIGHT - 60, 40, powers=True)
    axes(picture, x, y, "units in the Field", "ms")
    ends = []
    for kind, (color, points) in lines.items():
        places = [(x.at(units), y.at(value)) for units, value in points]
        picture.line(places, color, 3.0 if kind.endswith("p50") else 1.4)
        for place in places:
            picture.dot(*place, color)
        ends.extend([(places[-1], kind, color)] if places else [])
    _label(picture, ends)
    return picture.render()


def recall_by_latency(run: Run, name: str) -> str | None:
    """Points: recall of one set over the p50 of its questions."""
    points = [(system, row) for system in run.of_kind("memory") for row in system.good("recall") if row["set"] == name]
    points = [(system, row) for system, row in points if row["p50_ms"] == row["p50_ms"]]
    if not points:
        return None
    picture = Picture(WIDTH, HEIGHT, f"Evidence recall by latency, {name}")
    x = Scale(*around([float(row["p50_ms"]) for _, row in points]), 70, WIDTH - LABELS, powers=True)
    y = Scale(0.0, 1.0, HEIGHT - 60, 40)
    axes(picture, x, y, "p50 of a question, ms", f"recall@10, {name}")
    ends = []
    for system, row in points:
        place = (x.at(row["p50_ms"]), y.at(row["recall_at_10"]))
        color = color_of(run, system)
        picture.dot(*place, color, 7.0 if system.name == "quipu" else 5.0)
        ends.append((place, system.title, color))
    _label(picture, ends)
    return picture.render()


def survival(run: Run) -> str | None:
    """Bars: the share of acknowledged writes that is there after several writers and a kill."""
    bars = [
        (label(system, row), row) for system in run.systems for row in system.good("survival") if row["acknowledged"]
    ]
    if not bars:
        return None
    height = 60 + 22 * len(bars)
    picture = Picture(WIDTH, height, "Acknowledged writes that are still there")
    x = Scale(0.0, 1.0, 330, WIDTH - 130)
    picture.text(x.start, 24, "there", color=KEPT)
    picture.text(x.start + 50, 24, "lost", color=LOST)
    for place, (said, row) in enumerate(bars):
        y = 36 + 22 * place
        share = row["survived"] / row["acknowledged"]
        picture.text(x.start - 8, y + 13, said, anchor="end", size=11)
        picture.bar(x.start, y, x.end - x.start, 16, LOST)
        picture.bar(x.start, y, x.at(share) - x.start, 16, KEPT)
        picture.text(x.end + 6, y + 13, f"{row['survived']:,} of {row['acknowledged']:,}", size=11)
    return picture.render()


def label(system: System, row: Row) -> str:
    """What a bar is."""
    way = "" if row["variant"] == "shared" else f", {row['variant']}"
    return f"{system.title}{way}{', kill -9' if row['kill'] else ''}"
