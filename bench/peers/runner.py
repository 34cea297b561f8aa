"""All systems, one after the other, each in a process of its own with a hard limit of time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import procs
from .catalog import ABSENT, named
from .machine import machine, probe, stub_cost
from .measuring import not_run
from .peer import free_port
from .places import PACKAGE, Home
from .turns import Turns
from .wire.http import Http, request
from .work.modes import Mode

STUB_PACKAGES = ["numpy==2.4.6"]
SHORTEST_S = 1.0
"""A turn that is shorter is none."""


@dataclass(frozen=True)
class Plan:
    """What to do."""

    home: Home
    out: Path
    mode: Mode
    names: list[str]
    steps: list[str]
    data: Path | None
    model: str
    left_out: dict[str, str]
    minutes: float
    """How long all of it may take."""


def run(plan: Plan) -> int:
    """Measures them all; the number of those that did not come to their end."""
    plan.out.mkdir(parents=True, exist_ok=True)
    plan.home.data.mkdir(parents=True, exist_ok=True)
    mark = uuid.uuid4().hex
    unfinished = 0
    with stub(plan, mark) as port:
        about = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "mode": plan.mode.name,
            "settings": plan.mode.__dict__,
            "machine": machine(),
            "sync": probe(plan.home.data),
            "absent": ABSENT,
            "stub": {"model": plan.model, "dimensions": 256, **stub_cost(("127.0.0.1", port))},
        }
        (plan.out / "run.json").write_text(json.dumps(about, indent=1) + "\n")
        running = [name for name in plan.names if name not in plan.left_out]
        turns = Turns([named(name).patience for name in running], plan.minutes)
        for name in plan.names:
            seconds = turns.next() if name in running else 0.0
            print(f"{datetime.now(UTC):%H:%M:%S} {name}, for {seconds:.0f} s at most", flush=True)
            unfinished += not one(plan, name, f"http://127.0.0.1:{port}/v1", mark, seconds)
            anonymous(plan.out / f"{name}.json", plan.home.root)
    procs.sweep(mark)
    return unfinished


def anonymous(path: Path, home: Path) -> None:
    """Takes the places of this machine out of what is kept: an error may name them."""
    text = path.read_text()
    path.write_text(text.replace(str(home), "DIR").replace(str(PACKAGE.parent.parent), "."))


def installed(plan: Plan, name: str, mark: str, seconds: float) -> str:
    """Installs one, as a part of its turn; why that failed, or nothing."""
    if name in plan.left_out:
        return plan.left_out[name]
    if seconds < SHORTEST_S:
        return f"the {plan.minutes:g} minutes of this run were over"
    command = [sys.executable, "-m", "peers", "install", "--only", name, "--home", str(plan.home.root)]
    try:
        marked = {**os.environ, procs.MARK: mark}
        procs.run(command, cwd=PACKAGE.parent, patience=seconds, env=marked)
    except RuntimeError as error:
        return f"it could not be installed: {str(error).strip().splitlines()[-1][-300:]}"
    except subprocess.TimeoutExpired:
        procs.sweep(mark, keep="peers.stub")
        return f"it was not installed within its turn of {seconds:.0f} s; `python3 -m peers install` has no limit"
    return ""


def one(plan: Plan, name: str, embeddings: str, mark: str, seconds: float) -> bool:
    """Measures one in a process of its own, for so long at most; whether it came to its end."""
    system, begun = named(name), time.monotonic()
    why = installed(plan, name, mark, seconds)
    if why:
        known = {**system(plan.home, embeddings).describe(), "mode": plan.mode.name}
        not_run(plan.out / f"{name}.json", known, why)
        return name in plan.left_out
    place = ["--home", str(plan.home.root), "--out", str(plan.out), "--embeddings", embeddings]
    asked = ["--mode", plan.mode.name, "--steps", ",".join(plan.steps)]
    data = ["--data", str(plan.data)] if plan.data else []
    command = [sys.executable, "-m", "peers", "one", name, *place, *asked, *data]
    limit = max(SHORTEST_S, seconds - (time.monotonic() - begun))
    child = subprocess.Popen(command, cwd=PACKAGE.parent, env={**os.environ, procs.MARK: mark}, start_new_session=True)
    try:
        child.wait(limit)
        over = ""
    except subprocess.TimeoutExpired:
        over = f"stopped after its limit of {limit:.0f} s"
    procs.end([child.pid])
    child.wait()
    left = procs.sweep(mark, keep="peers.stub")
    shutil.rmtree(plan.home.data, ignore_errors=True)
    plan.home.data.mkdir(parents=True, exist_ok=True)
    return finish(
        plan.out / f"{name}.json", over or (f"ended with {child.returncode}" if child.returncode else ""), left
    )


def finish(path: Path, over: str, left: int) -> bool:
    """Notes in a system's results how it ended."""
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"peer": path.stem, "steps": []}
    if over:
        known["ended"] = over
    if left:
        known["processes_left"] = left
    path.write_text(json.dumps(known, indent=1) + "\n")
    return not over


@contextmanager
def stub(plan: Plan, mark: str) -> Iterator[int]:
    """The embeddings stub, for as long as the run takes; its port."""
    python = sys.executable
    if plan.model == "builtin":
        plan.home.by_pip("vectors", STUB_PACKAGES)
        python = str(plan.home.python("vectors"))
    port = free_port()
    log = (plan.home.logs / "stub.log").open("ab")
    child = subprocess.Popen(
        [python, "-m", "peers.stub", "--port", str(port), "--model", plan.model],
        cwd=PACKAGE.parent,
        env={**os.environ, procs.MARK: mark},
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    log.close()
    try:
        await_stub(port, child)
        yield port
    finally:
        procs.end([child.pid])
        child.wait()


def await_stub(port: int, child: subprocess.Popen[bytes], patience: float = 60.0) -> None:
    """Waits until it answers."""
    deadline = time.monotonic() + patience
    while not stub_answers(port):
        if child.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("the embeddings stub did not start; see logs/stub.log")
        time.sleep(0.05)


def stub_answers(port: int) -> bool:
    """Whether it gives vectors."""
    with suppress(OSError):
        connection = Http().open(("127.0.0.1", port))
        Http().exchange(connection, request("POST", "/v1/embeddings", {"model": "stub", "input": "hello"}))
        connection.close()
        return True
    return False
