"""MenteDB's Python wheel: the engine inside the process, with the vectors of the stub beside each text."""

from __future__ import annotations

import threading
from pathlib import Path

from .base import Host

DIMENSIONS = 256


class Mentedb(Host):
    """One writer for each database, by its documentation: writes take turns."""

    def __init__(self, data: Path, embeddings: str, store: str) -> None:
        super().__init__(data, embeddings, store)
        from mentedb import MenteDB

        self.database = MenteDB(str(data / "mente"), dimension=DIMENSIONS)
        self.turn = threading.Lock()

    def write(self, unit: dict[str, str]) -> str:
        """See the base."""
        vector = self.vectors.one(unit["text"])
        with self.turn:
            return str(self.database.store(unit["text"], embedding=vector, tags=["unit"]))

    def context(self, agent: str, hint: str, k: int) -> list[str]:
        """See the base."""
        del agent
        vector = self.vectors.one(hint)
        return [str(hit.id) for hit in self.database.search(vector, k)]

    def stored(self) -> list[str]:
        """See the base: it lists nothing, so one asks for more neighbours than there are units."""
        vector = self.vectors.one("anything at all")
        return [str(hit.id) for hit in self.database.search(vector, 1_000_000)]

    def there(self, ids: list[str]) -> list[str]:
        """See the base: each is asked for, since a search may pass some over."""
        return [one for one in ids if self.has(one)]

    def has(self, one: str) -> bool:
        """Whether it is there."""
        try:
            return self.database.get_memory(one) is not None
        except Exception:  # noqa: BLE001 - it raises an exception of its own for what is not there
            return False

    def close(self) -> None:
        """See the base."""
        self.database.close()


def open_host(data: Path, embeddings: str, store: str) -> Host:
    """The host."""
    return Mentedb(data, embeddings, store)
