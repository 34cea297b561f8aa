"""The official MCP memory server."""

from __future__ import annotations

from .hosted import Hosted

PACKAGES = ["@modelcontextprotocol/server-memory@2026.8.31"]


class McpMemory(Hosted):
    """A knowledge graph in one file of JSON lines, over stdio."""

    name = "mcp-memory"
    title = "MCP memory server"
    version = "2026.8.31"
    setup = "npm @modelcontextprotocol/server-memory, one entity a unit; a bridge of ours from sockets to its stdio"
    promise = "written with the whole file, which is read and written again without a lock and without a sync"
    vectors = "none: it looks for the words of the hint as one piece of text"
    host, tool = "mcp_memory", "mcp-memory"
    fill_clients = 1
    unfair = (
        "It speaks stdio, so every host of an agent starts a process of its own; the timed work shares one.",
        "`search_nodes` looks for the whole hint as a substring. A model that calls it would try single words.",
    )

    def install(self) -> None:
        """See the base."""
        self.home.by_npm(self.tool, PACKAGES)
        self.home.by_pip("plain", [])

    def command(self) -> list[str]:
        """See the base."""
        return [str(self.home.python("plain")), *super().command()[1:]]

    def environment(self) -> dict[str, str]:
        """See the base."""
        script = self.home.tool(self.tool) / "node_modules" / PACKAGES[0].rsplit("@", 1)[0] / "dist" / "index.js"
        return {**super().environment(), "QUIPU_PEERS_NODE": str(script)}
