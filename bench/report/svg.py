"""Pictures by hand: text, lines, marks and scales, as SVG."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

OURS = "#b3261e"
PALETTE = ("#3b6ea5", "#4f8a5b", "#8a6d3b", "#7a5195", "#2f8f8f", "#a05195", "#5c6b73", "#c27c0e", "#6b8e23", "#466995")
GRID = "#dddddd"
INK = "#222222"


@dataclass(frozen=True)
class Scale:
    """From values to places, straight or by powers of ten."""

    low: float
    high: float
    start: float
    end: float
    powers: bool = False

    def at(self, value: float) -> float:
        """The place of a value."""
        low, high, value = (
            (math.log10(it) for it in (self.low, self.high, value))
            if self.powers
            else (
                self.low,
                self.high,
                value,
            )
        )
        return self.start + (value - low) / ((high - low) or 1.0) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Values to mark: each power of ten, or a few steps."""
        if self.powers:
            return [
                10.0**power for power in range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            ]
        return [self.low + (self.high - self.low) * step / count for step in range(count + 1)]


def around(values: list[float]) -> tuple[float, float]:
    """The powers of ten around values, two at least."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


@dataclass
class Picture:
    """Marks on a sheet."""

    width: int
    height: int
    title: str
    marks: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, said: str, *, anchor: str = "start", color: str = INK, size: int = 12) -> None:
        """Words."""
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-size="{size}"'
        self.marks.append(f"<text {place}>{escape(said)}</text>")

    def line(self, points: list[tuple[float, float]], color: str = INK, width: float = 1.0) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.marks.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width}"/>')

    def dot(self, x: float, y: float, color: str, radius: float = 4.0) -> None:
        """A point."""
        self.marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def bar(self, x: float, y: float, width: float, height: float, color: str) -> None:
        """A box."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{height:.1f}"'
        self.marks.append(f'<rect {place} fill="{color}"/>')

    def render(self) -> str:
        """The file."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="system-ui, sans-serif" role="img">'
        )
        sheet = f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>'
        return "\n".join([head, f"<title>{escape(self.title)}</title>", sheet, *self.marks, "</svg>\n"])


def axes(picture: Picture, x: Scale, y: Scale, x_label: str, y_label: str) -> None:
    """Grid, ticks and names of two scales."""
    for value in x.ticks():
        place = x.at(value)
        picture.line([(place, y.start), (place, y.end)], GRID)
        picture.text(place, y.start + 18, plain(value), anchor="middle", size=11)
    for value in y.ticks():
        place = y.at(value)
        picture.line([(x.start, place), (x.end, place)], GRID)
        picture.text(x.start - 6, place + 4, plain(value), anchor="end", size=11)
    picture.text((x.start + x.end) / 2, y.start + 38, x_label, anchor="middle")
    picture.text(x.start - 40, y.end - 12, y_label)


def plain(value: float) -> str:
    """A tick's value."""
    return f"{value:,.0f}" if value >= 1 and value == round(value) else f"{value:g}"


def apart(places: list[float], gap: float) -> list[float]:
    """Places of labels moved as little as need be so that none covers another, in the order given."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = list(places)
    for before, index in itertools.pairwise(order):
        moved[index] = max(moved[index], moved[before] + gap)
    return moved
