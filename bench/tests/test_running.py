"""The runner: what it starts it ends, what it learned it keeps, and what cannot run is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from peers import procs
from peers.catalog import SYSTEMS, named
from peers.measuring import Results
from peers.places import PACKAGE, Home
from peers.runner import Plan, anonymous, finish, run
from peers.work.modes import MODES
from peers.work.recall import Outcome, sets
from report.__main__ import write

SMOKE = MODES["smoke"]


def test_what_left_its_group_is_found_by_its_mark_and_ended() -> None:
    forks = "import os, time; os.fork() or os.setsid(); time.sleep(600)"
    mark = f"test-{os.getpid()}-{time.monotonic_ns()}"
    child = subprocess.Popen(
        [sys.executable, "-c", forks], env={**os.environ, procs.MARK: mark}, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while len(procs.marked(mark)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert procs.sweep(mark) == 2
    child.wait()
    assert procs.marked(mark) == []


def test_steps_that_are_not_asked_for_stay_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    known = {"peer": "x", "version": "1", "mode": "quick"}
    first = Results(path, known, ["writes", "start"])
    first.add("writes", {"clients": 1})
    first.add("start", {"start_s": 1.0})
    Results(path, known, ["start"]).add("start", {"status": "not run", "why": "no"})
    steps = json.loads(path.read_text())["steps"]
    assert [(row["step"], row["status"]) for row in steps] == [("writes", "ok"), ("start", "not run")]
    Results(path, {**known, "version": "2"}, ["start"])
    assert json.loads(path.read_text())["steps"] == []


def test_one_that_ran_out_of_time_is_told(tmp_path: Path) -> None:
    assert not finish(tmp_path / "x.json", "stopped after its limit of 1 s", left=2)
    told = json.loads((tmp_path / "x.json").read_text())
    assert told["ended"] == "stopped after its limit of 1 s"
    assert told["processes_left"] == 2


def test_every_system_says_what_a_reader_must_know() -> None:
    assert len({system.name for system in SYSTEMS}) == len(SYSTEMS)
    for system in SYSTEMS:
        told = system(Home(Path("nowhere")), "").describe()
        assert all(told[name] for name in ("title", "version", "setup", "promise", "vectors", "unfair")), system
    with pytest.raises(KeyError, match="is none of quipu"):
        named("nobody")


def test_labelled_data_is_read_and_adversarial_questions_stay_out(tmp_path: Path) -> None:
    (tmp_path / "small.json").write_text(json.dumps({"corpora": [{"name": "a", "units": [], "queries": []}]}))
    assert [(name, len(corpora)) for name, corpora in sets(tmp_path)] == [("small", 1)]
    row = Outcome([("plain", 1.0), ("plain", 0.0), ("adversarial", 0.0)], [1.0], 3).row()
    assert (row["recall_at_10"], row["questions"]) == (0.5, 2)


def test_one_over_its_limit_is_stopped_and_nothing_is_left(tmp_path: Path) -> None:
    home, out = Home(tmp_path / "home"), tmp_path / "out"
    named("sqlite")(home, "").install()
    assert run(Plan(home, out, SMOKE, ["sqlite"], ["writes"] * 1_000, None, "hash", {}, minutes=0.25)) == 1
    told = json.loads((out / "sqlite.json").read_text())
    assert told["ended"].startswith("stopped after its limit of 1")
    assert told["steps"], "what it had reached stays"
    assert procs.at_home(home.root) == []
    assert list(home.data.iterdir()) == []


def test_what_is_kept_names_no_place_of_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"why": f"{tmp_path}/home/tools/x is not there, see {PACKAGE}/x.py"}))
    anonymous(path, tmp_path / "home")
    assert json.loads(path.read_text())["why"] == "DIR/tools/x is not there, see ./bench/peers/x.py"


def test_those_that_the_time_of_a_run_does_not_reach_are_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = Plan(Home(tmp_path / "home"), out, SMOKE, ["sqlite"], ["start"], None, "hash", {}, minutes=1e-6)
    assert run(plan) == 1
    assert json.loads((out / "sqlite.json").read_text())["why"] == "the 1e-06 minutes of this run were over"


def test_sqlite_is_measured_killed_and_reported(tmp_path: Path) -> None:
    """All of it once, with the system that needs nothing installed."""
    out = tmp_path / "runs" / "today"
    steps = ["start", "writes", "survival", "weight"]
    why = {"redis": "left out by this test"}
    plan = Plan(Home(tmp_path / "home"), out, SMOKE, ["sqlite", "redis"], steps, None, "hash", why, SMOKE.minutes)
    assert run(plan) == 0
    told = json.loads((out / "sqlite.json").read_text())
    assert told["status"] == "ok"
    survived = [row for row in told["steps"] if row["step"] == "survival"]
    one, each = "one process", "a process for each client"
    assert [(row["variant"], row["kill"]) for row in survived] == [
        (one, False),
        (one, True),
        (each, False),
        (each, True),
    ]
    assert [row["lost"] for row in survived] == [0, 0, 0, 0]
    assert all(row["acknowledged"] > 0 for row in survived)
    assert "processes_left" not in told
    page = write(None, out, tmp_path / "docs" / "benchmarks.md")[0].read_text()
    assert "SQLite alone" in page
    assert "left out by this test" in page
