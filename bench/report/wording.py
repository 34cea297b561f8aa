"""Figures and tables as text."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float | None) -> str:
    """Three digits that count, with commas between thousands."""
    if value is None or math.isnan(value):
        return ""
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def milliseconds(value: float | None) -> str:
    """With the unit."""
    return "" if value is None or math.isnan(value) else f"{number(value)} ms"


def seconds(value: float | None) -> str:
    """With the unit."""
    return "" if value is None else f"{number(value)} s"


def size(value: float | None) -> str:
    """Bytes in the unit that suits them."""
    if value is None:
        return ""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(value) >= factor:
            return f"{number(value / factor)} {unit}"
    return f"{value:.0f} B"


def times(value: float | None) -> str:
    """A ratio."""
    return "" if value is None else f"{number(value)} x"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; the first column is text, the rest as it comes."""
    clean = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines.extend(f"| {' | '.join(row)} |" for row in clean)
    return "\n".join(lines)
