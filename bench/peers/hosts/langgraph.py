"""LangGraph's SqliteStore, with its vector index over the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import Host

NAMESPACE = ("units",)


class Langgraph(Host):
    """The store does its own locking."""

    def __init__(self, data: Path, embeddings: str, store: str) -> None:
        super().__init__(data, embeddings, store)
        from langgraph.store.base import PutOp
        from langgraph.store.sqlite import SqliteStore

        index: Any = {"dims": 256, "embed": self.vectors.of, "fields": ["text"]}
        self.scope: Any = SqliteStore.from_conn_string(str(data / "store.sqlite"), index=index)
        self.store = self.scope.__enter__()
        self.store.setup()
        self.put: Any = PutOp

    def write(self, unit: dict[str, str]) -> str:
        """See the base."""
        self.store.put(NAMESPACE, unit["id"], {"text": unit["text"], "agent": unit["agent"]})
        return unit["id"]

    def bulk(self, units: list[dict[str, str]]) -> int:
        """One batch of puts."""
        values = [(unit["id"], {"text": unit["text"], "agent": unit["agent"]}) for unit in units]
        self.store.batch([self.put(NAMESPACE, key, value) for key, value in values])
        return len(units)

    def context(self, agent: str, hint: str, k: int) -> list[str]:
        """See the base."""
        del agent
        return [item.key for item in self.store.search(NAMESPACE, query=hint, limit=k)]

    def stored(self) -> list[str]:
        """See the base."""
        keys: list[str] = []
        while True:
            page = self.store.search(NAMESPACE, limit=1000, offset=len(keys))
            keys.extend(item.key for item in page)
            if not page:
                return keys

    def close(self) -> None:
        """See the base."""
        self.scope.__exit__(None, None, None)


def open_host(data: Path, embeddings: str, store: str) -> Host:
    """The host."""
    return Langgraph(data, embeddings, store)
