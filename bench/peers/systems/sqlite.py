"""SQLite alone."""

from __future__ import annotations

from .hosted import HOP, Hosted


class Sqlite(Hosted):
    """A table, for what the storage alone costs."""

    name = "sqlite"
    title = "SQLite alone"
    version = "of Python"
    kind = "log"
    setup = "Python's sqlite3, WAL, synchronous=FULL, one row a transaction, a connection for each client"
    promise = "synced"
    vectors = "none"
    host, tool = "sqlite", "plain"
    unfair = (HOP, "It ranks nothing, embeds nothing and checks nothing.")

    def install(self) -> None:
        """See the base."""
        self.home.by_pip(self.tool, [])
