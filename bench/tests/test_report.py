"""The page and its pictures, from a small run that is kept beside this file."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from report import own
from report.__main__ import newest
from report.alone import goals, lines
from report.bars import BARS, limits
from report.measures import Facts
from report.own import Figure
from report.page import page, pictures
from report.results import load, stored
from report.svg import Scale, apart, around
from report.wording import number, size, table

HERE = Path(__file__).parent
RUN = HERE / "data" / "run"
OWN = HERE / "data" / "own"
GOLDEN = HERE / "data" / "golden"
ALL = Facts(own.load(OWN), load(RUN))


def same(name: str, text: str) -> None:
    """Compares with the file that is kept; UPDATE=1 keeps a new one, to be read before it is committed."""
    path = GOLDEN / name
    if os.environ.get("UPDATE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{name} changed: UPDATE=1 pytest writes it anew"


def test_the_page_is_this() -> None:
    same("benchmarks.txt", page(ALL))


@pytest.mark.parametrize("name", ["growth.svg", "latency-by-size.svg", "recall-small.svg", "survival.svg"])
def test_the_pictures_are_these_and_are_whole(name: str) -> None:
    text = pictures(ALL)[name]
    assert ElementTree.fromstring(text).tag.endswith("svg")
    same(name, text)


def test_what_was_not_measured_is_told_and_is_no_verdict() -> None:
    told = goals(Facts(None, load(RUN)))
    assert told.count("not measured: Quipu alone was not measured in this run") == 12
    nothing = goals(Facts(None, None))
    assert "holds" not in nothing
    assert nothing.count("not measured: ") == len(BARS)
    assert "## Growth" not in page(Facts(None, load(RUN)))


def test_a_figure_holds_on_its_own_side_of_the_bar() -> None:
    by_name = {bar.name: bar for bar in BARS}
    least, most, none = by_name["record-64"], by_name["open"], by_name["lost"]
    assert [least.verdict(value) for value in (0.7, 0.35, 0.07)] == [
        "holds, the stretch too",
        "holds",
        "**does not hold**: 0.200 x of the bar",
    ]
    assert [most.verdict(value) for value in (1.0, 5.0, 10.0)] == [
        "holds, the stretch too",
        "holds",
        "**does not hold**: 2.00 x of the bar",
    ]
    assert [none.verdict(value) for value in (0, 3)] == ["holds", "**does not hold**"]


def test_figures_of_a_busy_machine_say_so_in_every_verdict() -> None:
    quiet = own.load(OWN)
    about = {**quiet.about, "machine": {**quiet.about["machine"], "busy_cores": 1.2}}
    told = goals(Facts(own.Own(quiet.folder, about, quiet.figures), load(RUN)))
    assert told.count(", on a busy machine") == len(BARS)
    assert ", on a busy machine" not in goals(ALL)


def test_a_record_that_is_faster_than_its_sync_is_not_believed() -> None:
    figures = {"record": [Figure("RECORD, 1 clients: p50 as a multiple of the sync time", 0.2, "x")]}
    assert "the disk changed meanwhile" in goals(Facts(own.Own(OWN, own.load(OWN).about, figures), None))


def test_every_limit_is_of_a_figure() -> None:
    assert set(limits()) <= {bar.name for bar in BARS}


def test_the_spread_and_the_rate_of_one_thing_are_one_row() -> None:
    figures = [Figure("a, b p50", 1000.0, "us"), Figure("a, b p99", 2000.0, "us"), Figure("a, b rate", 9.0, "1/s")]
    alone = [Figure("  of which x", 3.0, "bytes"), Figure("no rate", 4.0, "x")]
    assert lines([*figures, *alone]) == [
        ["a, b", "p50 1.00 ms, p99 2.00 ms, 9.00/s"],
        ["of which x", "3.00 bytes"],
        ["no rate", "4.00 x"],
    ]


def test_the_newest_run_of_a_kind_is_taken(tmp_path: Path) -> None:
    assert newest(tmp_path, "quipu") is None
    for name in ("2026-01-02-quipu", "2026-01-10-quipu", "2026-02-01-peers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
    (tmp_path / "2026-03-01-quipu").mkdir()
    found = newest(tmp_path, "quipu")
    assert found is not None
    assert found.name == "2026-01-10-quipu"


def test_runs_from_when_the_benchmarks_were_a_command_of_quipu_name_todays_program(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"command": "quipu bench record --clients 1"}')
    assert stored(tmp_path / "run.json") == {"command": "quipu-bench record --clients 1"}


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
