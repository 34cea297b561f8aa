"""The official MCP memory server, which speaks stdio, behind this host.

`QUIPU_PEERS_NODE` is the script of the server.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

from .base import Host


class Session:
    """One server process; requests may overtake each other, so each waits for its own number."""

    def __init__(self, script: str, file: Path) -> None:
        self.process = subprocess.Popen(
            ["node", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MEMORY_FILE_PATH": str(file)},
        )
        self.numbers = itertools.count(1)
        self.waiting: dict[int, tuple[threading.Event, list[Any]]] = {}
        self.sending = threading.Lock()
        threading.Thread(target=self.listen, daemon=True).start()
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "peers", "version": "1"}}
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def listen(self) -> None:
        """Hands each answer to whoever waits for it; at the end, everybody learns that."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            waited = self.waiting.pop(message.get("id", 0), None)
            if waited:
                waited[1].append(message)
                waited[0].set()
        for event, _ in list(self.waiting.values()):
            event.set()

    def send(self, message: dict[str, Any]) -> None:
        """Writes one line."""
        assert self.process.stdin is not None
        with self.sending:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def ask(self, method: str, values: dict[str, Any]) -> Any:
        """A request and its answer."""
        number = next(self.numbers)
        arrived, answers = self.waiting[number] = (threading.Event(), [])
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": values})
        arrived.wait(600)
        if not answers:
            raise ConnectionError("the server is gone")
        if "error" in answers[0]:
            raise ValueError(answers[0]["error"])
        return answers[0]["result"]

    def call(self, tool: str, values: dict[str, Any]) -> Any:
        """Calls a tool; its answer is JSON in a text."""
        result = self.ask("tools/call", {"name": tool, "arguments": values})
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise ValueError(text)
        return json.loads(text)


class McpMemory(Host):
    """Each unit is an entity with one observation."""

    def __init__(self, data: Path, embeddings: str, store: str) -> None:
        super().__init__(data, embeddings, store)
        self.session = Session(os.environ["QUIPU_PEERS_NODE"], data / "memory.jsonl")

    def write(self, unit: dict[str, str]) -> str:
        """See the base."""
        self.bulk([unit])
        return unit["id"]

    def bulk(self, units: list[dict[str, str]]) -> int:
        """Many entities in one call."""
        entities = [{"name": unit["id"], "entityType": unit["agent"], "observations": [unit["text"]]} for unit in units]
        self.session.call("create_entities", {"entities": entities})
        return len(units)

    def context(self, agent: str, hint: str, k: int) -> list[str]:
        """See the base."""
        del agent
        found = self.session.call("search_nodes", {"query": hint})
        return [entity["name"] for entity in found["entities"][:k]]

    def close(self) -> None:
        """See the base."""
        self.session.process.terminate()
        self.session.process.wait()

    def stored(self) -> list[str]:
        """See the base."""
        return [entity["name"] for entity in self.session.call("read_graph", {})["entities"]]


def open_host(data: Path, embeddings: str, store: str) -> Host:
    """The host."""
    return McpMemory(data, embeddings, store)
