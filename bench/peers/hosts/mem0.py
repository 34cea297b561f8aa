"""mem0's Memory without a model: `infer=False` stores each message as it is. The store is its vector store."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from .base import Host

USER = "team"


class Mem0(Host):
    """Neither local store says that it takes writers at once, so writes take turns."""

    def __init__(self, data: Path, embeddings: str, store: str) -> None:
        super().__init__(data, embeddings, store)
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(data / "mem0"), "OPENAI_API_KEY": "none"}
        from mem0 import Memory

        place: dict[str, Any] = {"path": str(data / store), "embedding_model_dims": 256, "collection_name": "units"}
        if store == "qdrant":
            place["on_disk"] = True
        stub = {"api_key": "none", "openai_base_url": embeddings, "model": "stub", "embedding_dims": 256}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": store, "config": place},
                "embedder": {"provider": "openai", "config": stub},
                "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": embeddings}},
                "history_db_path": str(data / "history.sqlite"),
            }
        )
        self.turn = threading.Lock()

    def write(self, unit: dict[str, str]) -> str:
        """See the base."""
        with self.turn:
            added = self.memory.add(
                unit["text"], user_id=USER, agent_id=unit["agent"], metadata={"unit": unit["id"]}, infer=False
            )
        return str(added["results"][0]["id"])

    def context(self, agent: str, hint: str, k: int) -> list[str]:
        """See the base."""
        del agent
        with self.turn:
            found = self.memory.search(hint, filters={"user_id": USER}, top_k=k)
        return [str(entry["id"]) for entry in found["results"]]

    def stored(self) -> list[str]:
        """See the base."""
        with self.turn:
            found = self.memory.get_all(filters={"user_id": USER}, top_k=1_000_000)
        return [str(entry["id"]) for entry in found["results"]]


def open_host(data: Path, embeddings: str, store: str) -> Host:
    """The host."""
    return Mem0(data, embeddings, store)
