"""SQLite alone, from Python's standard library: one table, one row a transaction, each synced.

A thread has a connection of its own; the writers wait for each other inside SQLite.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

from .base import Host


class Sqlite(Host):
    """A table of units."""

    def __init__(self, data: Path, embeddings: str, store: str) -> None:
        super().__init__(data, embeddings, store)
        self.own = threading.local()
        self.connection().execute(
            "CREATE TABLE IF NOT EXISTS units "
            "(position INTEGER PRIMARY KEY, id TEXT NOT NULL, agent TEXT NOT NULL, text TEXT NOT NULL)"
        )

    def connection(self) -> sqlite3.Connection:
        """The thread's connection."""
        found: sqlite3.Connection | None = getattr(self.own, "connection", None)
        if found is None:
            found = sqlite3.connect(self.data / "log.sqlite", timeout=60, isolation_level=None)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = FULL")
            self.own.connection = found
        return found

    def write(self, unit: dict[str, str]) -> str:
        """See the base."""
        row = (unit["id"], unit["agent"], unit["text"])
        self.connection().execute("INSERT INTO units (id, agent, text) VALUES (?, ?, ?)", row)
        return unit["id"]

    def stored(self) -> list[str]:
        """See the base."""
        return [row[0] for row in self.connection().execute("SELECT id FROM units")]


def open_host(data: Path, embeddings: str, store: str) -> Host:
    """The host."""
    return Sqlite(data, embeddings, store)
