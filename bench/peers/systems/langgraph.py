"""LangGraph's SqliteStore."""

from __future__ import annotations

from .hosted import HOP, Hosted

PACKAGES = ["langgraph==1.2.20", "langgraph-checkpoint-sqlite==3.1.2"]


class LanggraphSqlite(Hosted):
    """A key-value store of agents' memories with a vector index."""

    name = "langgraph-sqlite"
    title = "LangGraph SqliteStore"
    version = "3.1.2"
    setup = "PyPI langgraph-checkpoint-sqlite; index of 256 numbers over the text; one store shared by all clients"
    promise = "written to SQLite and synced, the value and its vector"
    host, tool = "langgraph", "langgraph"
    unfair = (HOP, "It has no ranking for an agent: `search` orders by the vectors alone, and scans all of them.")

    def install(self) -> None:
        """See the base."""
        self.home.by_pip(self.tool, PACKAGES)
