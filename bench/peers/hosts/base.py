"""What a hosted library does."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.parse
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any


class Host(ABC):
    """A library, opened over a data directory. Calls come from many threads at once."""

    def __init__(self, data: Path, embeddings: str, store: str) -> None:
        self.data, self.embeddings, self.store_name = data, embeddings, store
        self.vectors = Vectors(embeddings)

    @abstractmethod
    def write(self, unit: dict[str, str]) -> str:
        """Adds one unit durably; gives the id that it can be found by."""

    @abstractmethod
    def stored(self) -> list[str]:
        """The ids of all units."""

    def there(self, ids: list[str]) -> list[str]:
        """Which of these are there, and which others where that can be told."""
        del ids
        return self.stored()

    def context(self, agent: str, hint: str, k: int) -> list[str]:
        """The ids of what an agent should know, best first."""
        raise NotImplementedError

    def bulk(self, units: list[dict[str, str]]) -> int:
        """Adds many; the default adds one after the other."""
        return len([self.write(unit) for unit in units])

    def close(self) -> None:  # noqa: B027
        """Ends in order."""


class Vectors:
    """Asks the embeddings stub, over a connection of each thread."""

    def __init__(self, url: str) -> None:
        self.url = urllib.parse.urlsplit(url)
        self.own = threading.local()

    def of(self, texts: list[str]) -> list[list[float]]:
        """The vector of each text."""
        connection: http.client.HTTPConnection | None = getattr(self.own, "connection", None)
        if connection is None:
            connection = self.own.connection = http.client.HTTPConnection(self.url.netloc)
        body = json.dumps({"model": "stub", "input": texts})
        connection.request("POST", f"{self.url.path}/embeddings", body, {"Content-Type": "application/json"})
        answer: Any = json.loads(connection.getresponse().read())
        return [entry["embedding"] for entry in answer["data"]]

    def one(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.of([text])[0]
