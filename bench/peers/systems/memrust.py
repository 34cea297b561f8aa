"""memrust, the memory engine in Rust that is nearest to ours."""

from __future__ import annotations

import json

from ..peer import Peer
from ..units import Unit
from ..wire import http
from ..wire.base import Wire


class Memrust(Peer):
    """Its HTTP server."""

    name = "memrust"
    title = "memrust"
    version = "0.6.1"
    setup = "`cargo install memrust`, `memrust serve`, embedder `openai` at the stub, background lifecycle off"
    promise = "written to its write-ahead log and synced; writers take turns"
    unfair = ("A write holds its lock while the stub answers, which a faster embedder would shorten.",)

    @property
    def wire(self) -> Wire:
        """See the base."""
        return http.Http()

    def install(self) -> None:
        """See the base."""
        self.home.by_cargo(self.name, "memrust", self.version)

    def command(self) -> list[str]:
        """See the base."""
        program = str(self.home.tool(self.name) / "bin" / "memrust")
        place = ["--addr", f"127.0.0.1:{self.port}", "--data-dir", str(self.data), "--log-format", "off"]
        vectors = ["--embedder", "openai", "--embedding-url", self.embeddings, "--embedding-model", "stub"]
        return [program, "serve", *place, *vectors, "--lifecycle-interval-secs", "0"]

    def environment(self) -> dict[str, str]:
        """See the base."""
        return {"MEMRUST_EMBED_API_KEY": "none"}

    def ready(self) -> bool:
        """See the base."""
        return self.answers(http.request("GET", "/health"))

    def item(self, unit: Unit) -> dict[str, str]:
        """A unit that every agent may recall."""
        return {"text": unit.text, "agent_id": unit.agent, "session_id": unit.session, "visibility": "shared"}

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        return http.request("POST", "/v1/remember", self.item(unit))

    def bulk(self, units: list[Unit]) -> bytes | None:
        """See the base."""
        return http.request("POST", "/v1/remember_batch", {"items": [self.item(unit) for unit in units]})

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base."""
        del unit
        return str(json.loads(answer)["record"]["id"])

    def context(self, agent: str, hint: str, k: int) -> bytes:
        """See the base."""
        return http.request("POST", "/v1/recall", {"query": hint, "top_k": k, "as_agent": agent})

    def found(self, answer: bytes) -> list[str]:
        """See the base."""
        return [str(hit["record"]["id"]) for hit in json.loads(answer)["hits"]]

    def stored(self) -> set[str]:
        """See the base."""
        ids: set[str] = set()
        while True:
            page = json.loads(self.ask(http.request("GET", f"/v1/memories?offset={len(ids)}&limit=200")))
            fresh = {str(record["id"]) for record in page["records"]} - ids
            if not fresh:
                return ids
            ids |= fresh
