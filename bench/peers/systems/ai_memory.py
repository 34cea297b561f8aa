"""ai-memory, keyword tier: its semantic tier downloads a model."""

from __future__ import annotations

import json
import signal
from typing import Any

from ..peer import Peer
from ..units import Unit
from ..wire import http
from ..wire.base import Wire


class AiMemory(Peer):
    """Its HTTP daemon."""

    name = "ai-memory"
    title = "ai-memory"
    version = "0.6.4"
    setup = "`cargo install ai-memory`, `ai-memory serve`, keyword tier (FTS5), tier `long`, scope `collective`"
    promise = "written to SQLite with synchronous=NORMAL in WAL mode, which does not sync before the answer"
    vectors = "none: the keyword tier has none, and it takes no endpoint for them"
    stops_at = signal.SIGINT
    unfair = (
        "Its semantic tier, which downloads a model, would rank better and cost more.",
        "Its SQLite log is folded into its database every ten minutes and at its end. Until then a unit takes 75 KB.",
    )

    @property
    def wire(self) -> Wire:
        """See the base."""
        return http.Http()

    def install(self) -> None:
        """See the base."""
        self.home.by_cargo(self.name, "ai-memory", self.version)

    def lay_out(self) -> None:
        """Writes the config file where it looks for one."""
        folder = self.data / ".config" / "ai-memory"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text('tier = "keyword"\n')

    def environment(self) -> dict[str, str]:
        """See the base."""
        return {"HOME": str(self.data)}

    def command(self) -> list[str]:
        """See the base."""
        program = str(self.home.tool(self.name) / "bin" / "ai-memory")
        return [program, "--db", str(self.data / "memory.sqlite"), "serve", "--port", str(self.port)]

    def ready(self) -> bool:
        """See the base."""
        return self.answers(http.request("GET", "/api/v1/health"))

    def item(self, unit: Unit) -> dict[str, Any]:
        """A unit for everybody, which single and bulk writes take from different places; titles must differ."""
        place = {"tier": "long", "namespace": "units", "scope": "collective", "metadata": {"scope": "collective"}}
        return {**place, "title": unit.id, "content": unit.text, "agent_id": unit.agent}

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        return http.request("POST", "/api/v1/memories", self.item(unit))

    def bulk(self, units: list[Unit]) -> bytes | None:
        """See the base."""
        return http.request("POST", "/api/v1/memories/bulk", [self.item(unit) for unit in units])

    def taken(self, answer: bytes, sent: int) -> int:
        """See the base: it answers well also where it took none, and tells."""
        return int(json.loads(answer).get("created", sent))

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base."""
        del unit
        return str(json.loads(answer)["id"])

    def context(self, agent: str, hint: str, k: int) -> bytes:
        """See the base."""
        asked = {"context": hint, "namespace": "units", "limit": k, "as_agent": agent}
        return http.request("POST", "/api/v1/recall", asked)

    def found(self, answer: bytes) -> list[str]:
        """See the base."""
        return [str(entry["id"]) for entry in json.loads(answer)["memories"]]

    def stored(self) -> set[str]:
        """See the base."""
        ids: set[str] = set()
        while True:
            listed = http.request("GET", f"/api/v1/memories?namespace=units&limit=1000&offset={len(ids)}")
            fresh = set(self.found(self.ask(listed))) - ids
            if not fresh:
                return ids
            ids |= fresh
