"""txtai's Embeddings with content, vectors of the stub and its own BM25 beside them.

It writes nothing to the disk by itself. A write that lasts is an upsert and a `save` of the whole index.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from .base import Host


class Txtai(Host):
    """Writes must be synchronized, by its documentation: all calls take turns."""

    def __init__(self, data: Path, embeddings: str, store: str) -> None:
        super().__init__(data, embeddings, store)
        import numpy
        from txtai.embeddings import Embeddings

        def transform(texts: list[str]) -> Any:
            return numpy.array(self.vectors.of(list(texts)), dtype=numpy.float32)

        self.index = Embeddings(method="external", transform=transform, content=True, hybrid=True)
        self.path = str(data / "index")
        if self.index.exists(self.path):
            self.index.load(self.path, config={"transform": transform})
        self.turn = threading.Lock()

    def write(self, unit: dict[str, str]) -> str:
        """See the base."""
        with self.turn:
            self.index.upsert([(unit["id"], unit["text"], None)])
            self.index.save(self.path)
        return unit["id"]

    def bulk(self, units: list[dict[str, str]]) -> int:
        """One upsert and one save."""
        with self.turn:
            self.index.upsert([(unit["id"], unit["text"], None) for unit in units])
            self.index.save(self.path)
        return len(units)

    def context(self, agent: str, hint: str, k: int) -> list[str]:
        """See the base."""
        del agent
        with self.turn:
            return [entry["id"] for entry in self.index.search(hint, k)]

    def stored(self) -> list[str]:
        """See the base."""
        with self.turn:
            return [entry["id"] for entry in self.index.search("select id from txtai", 10_000_000)]


def open_host(data: Path, embeddings: str, store: str) -> Host:
    """The host."""
    return Txtai(data, embeddings, store)
