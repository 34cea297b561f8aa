"""All systems, in the order in which they are measured and told."""

from __future__ import annotations

from .peer import Peer
from .systems.ai_memory import AiMemory
from .systems.hindsight import Hindsight
from .systems.langgraph import LanggraphSqlite
from .systems.mcp_memory import McpMemory
from .systems.mem0 import Mem0Faiss, Mem0Qdrant
from .systems.memrust import Memrust
from .systems.mentedb import Mentedb
from .systems.nats import NatsStream
from .systems.postgres import PostgresRows
from .systems.quipu import Quipu
from .systems.redis import RedisStream
from .systems.sqlite import Sqlite
from .systems.txtai import Txtai

SYSTEMS: tuple[type[Peer], ...] = (
    Quipu,
    Memrust,
    AiMemory,
    Mentedb,
    McpMemory,
    LanggraphSqlite,
    Mem0Qdrant,
    Mem0Faiss,
    Hindsight,
    Txtai,
    RedisStream,
    PostgresRows,
    NatsStream,
    Sqlite,
)

ABSENT = {
    "Zep, Graphiti": "every write is worked on by a language model; Zep itself is closed",
    "Letta": "an agent that cannot write without a language model",
    "Cognee, MemOS, LangMem": "a language model extracts what is written",
    "Supermemory": "its server is a closed binary",
    "Redis Agent Memory Server": "needs the search module of Redis, which Debian does not have",
    "Bedrock AgentCore Memory, Akka Memory": "closed, and bound to a platform",
}
"""Systems that a reader may look for, and why they are not here."""


def named(name: str) -> type[Peer]:
    """The system of a name."""
    for system in SYSTEMS:
        if system.name == name:
            return system
    raise KeyError(f"{name} is none of {', '.join(system.name for system in SYSTEMS)}")
