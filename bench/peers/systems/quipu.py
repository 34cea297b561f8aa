"""Quipu itself, by the program that is given or on the path."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import procs
from ..peer import CannotRun, Peer
from ..places import Home
from ..units import READER, Unit
from ..wire import http
from ..wire.base import Wire


class Quipu(Peer):
    """The server with its defaults, but for keys."""

    name = "quipu"
    title = "Quipu"
    version = "of this checkout"
    setup = "`quipu serve --dev --cross-session-visibility`, the rest as it comes: detection on, built-in model"
    promise = "synced before the answer; commands that wait share a sync"
    vectors = "its built-in model of 256 numbers, in process"
    fill_clients = 64
    knows_authors = True
    unfair = (
        "Its vectors come from inside the process; the others ask the stub for the same, at the stub's cost.",
        "`quipu-bench record` sends about 700 bytes of JSON a unit, with its purpose; the others send 500 bytes.",
        "It is ours: its defaults were chosen with this work in mind.",
    )

    def __init__(self, home: Home, embeddings: str) -> None:
        super().__init__(home, embeddings)
        self.numbers = itertools.count(1)

    @property
    def wire(self) -> Wire:
        """See the base."""
        return http.Http()

    @property
    def program(self) -> str:
        """The binary."""
        found = os.environ.get("QUIPU_BIN") or shutil.which("quipu")
        if not found:
            raise CannotRun("there is no quipu: set QUIPU_BIN, or --quipu")
        return found

    @property
    def generator(self) -> Path:
        """Its own load generator, which is built beside it and starts it."""
        return Path(self.program).with_name("quipu-bench")

    def install(self) -> None:
        """It is built, not installed; its version is what it says."""
        if not self.generator.exists():
            raise CannotRun(f"there is no {self.generator}: build it with `cargo build --release -p quipu-bench`")
        type(self).version = procs.run([self.program, "--version"]).split()[-1]

    def command(self) -> list[str]:
        """See the base."""
        place = ["--data", str(self.data), "--listen", f"127.0.0.1:{self.port}"]
        return [self.program, "serve", "--dev", "--cross-session-visibility", "--log-level", "warn", *place]

    def ready(self) -> bool:
        """See the base."""
        return self.answers(http.request("GET", "/readyz"))

    def own_load(self, clients: int, seconds: float, about: int) -> dict[str, Any] | None:
        """See the base: `quipu-bench record` starts a server of its own."""
        del about
        out = self.home.fresh("quipu-bench")
        asked = ["--clients", str(clients), "--seconds", str(max(1, round(seconds))), "--skip-engine"]
        place = ["--data", str(self.home.fresh("quipu-bench-data")), "--out", str(out)]
        procs.run([str(self.generator), "record", *asked, *place])
        rows = [line.rsplit(",", 2) for line in (out / "raw.csv").read_text().splitlines()[1:]]
        figures = {name: float(figure) for name, figure, _ in rows}
        name = f"RECORD, {clients} clients"
        spread = {f"p{share}_ms": figures[f"{name} p{share}"] / 1000 for share in (50, 95, 99)}
        return {"generator": "quipu-bench record", "per_second": figures[f"{name} rate"], **spread}

    def prepare(self, agents: Sequence[str]) -> None:
        """Registers them, and the reader."""
        for agent in {*agents, READER}:
            self.ask(http.request("POST", "/v1/register", {"id": agent, "role": "participant"}))

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        payload = {
            "mode": "committed",
            "type": "human_directive" if unit.agent == "user" else "observation",
            "content": unit.text,
            "intent": {"purpose": "Keep what was said"},
            "confidence": {"score": 0.8, "reasoning": "heard"},
        }
        names = {"akashik-agent": unit.agent, "akashik-session": unit.session}
        message = {**names, "akashik-message-id": f"peers-{next(self.numbers)}"}
        return http.request("POST", "/v1/record", payload, message)

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base."""
        del unit
        return str(json.loads(answer)["memory_unit_id"])

    def context(self, agent: str, hint: str, k: int) -> bytes:
        """See the base: the reader recorded nothing, so all units are open to it."""
        del agent
        return self.attune({"scope": {"role": "reader", "max_units": k}, "context_hint": hint})

    def attune(self, payload: object) -> bytes:
        """An ATTUNE of the reader."""
        return http.request("POST", "/v1/attune", payload, {"akashik-agent": READER})

    def found(self, answer: bytes) -> list[str]:
        """See the base."""
        return [str(entry["memory_unit"]["id"]) for entry in json.loads(answer)["record"]]

    def stored(self) -> set[str]:
        """See the base."""
        every = {"scope": {"role": "reader", "max_units": 10_000}, "format": "ids_only"}
        return set(self.found(self.ask(self.attune(every))))
