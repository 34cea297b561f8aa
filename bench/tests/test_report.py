"""The page and its pictures, from a small run that is kept beside this file."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from report.page import page, pictures
from report.results import load
from report.svg import Scale, apart, around
from report.wording import number, size, table

HERE = Path(__file__).parent
RUN = HERE / "data" / "run"
GOLDEN = HERE / "data" / "golden"


def same(name: str, text: str) -> None:
    """Compares with the file that is kept; UPDATE=1 keeps a new one, to be read before it is committed."""
    path = GOLDEN / name
    if os.environ.get("UPDATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{name} changed: UPDATE=1 pytest writes it anew"


def test_the_page_is_this() -> None:
    same("benchmarks.txt", page(load(RUN), "bench/runs/run"))


@pytest.mark.parametrize("name", ["latency-by-size.svg", "recall-small.svg", "survival.svg"])
def test_the_pictures_are_these_and_are_whole(name: str) -> None:
    text = pictures(load(RUN))[name]
    assert ElementTree.fromstring(text).tag.endswith("svg")
    same(name, text)


def test_figures_have_three_digits() -> None:
    told = [number(value) for value in (0.0, 0.012345, 1.0, 12.345, 123.45, 1234.5, 1234567.0, float("nan"))]
    assert told == ["0", "0.0123", "1.00", "12.3", "123", "1,230", "1,230,000", ""]
    assert [size(value) for value in (12, 2048, 3 * 2**20, 2.5 * 2**30, None)] == [
        "12 B",
        "2.00 KiB",
        "3.00 MiB",
        "2.50 GiB",
        "",
    ]


def test_a_table_survives_bars_and_line_ends_in_its_cells() -> None:
    assert table(["a"], [["x|y\nz"]]) == "| a |\n|---|\n| x\\|y z |"


def test_scales_lead_from_end_to_end() -> None:
    powers = Scale(1, 100, 0, 200, powers=True)
    assert [powers.at(value) for value in (1, 10, 100)] == [0, 100, 200]
    assert powers.ticks() == [1, 10, 100]
    assert Scale(0, 1, 400, 0).at(0.25) == 300
    assert around([0.4, 30.0]) == (0.1, 100.0)
    assert around([1000.0, 10_000.0]) == (1000.0, 10_000.0)
    assert around([1.0]) == (1.0, 10.0)


def test_labels_do_not_cover_each_other() -> None:
    moved = apart([10.0, 50.0, 11.0, 12.0], 14.0)
    assert moved == [10.0, 52.0, 24.0, 38.0]
