"""txtai's embeddings database."""

from __future__ import annotations

from .hosted import HOP, Hosted

PACKAGES = ["faiss-cpu==1.15.1", "msgpack==1.2.4", "numpy==2.4.6", "pyyaml==6.0.3", "regex==2026.11.9"]
ALONE = ("txtai==9.14.0",)


class Txtai(Hosted):
    """A retrieval engine."""

    name = "txtai"
    title = "txtai"
    version = "9.14.0"
    setup = "PyPI txtai without torch (vectors come from the stub), content and hybrid BM25 on"
    promise = "saved with the whole index, since nothing is kept otherwise; only the SQLite part of it is synced"
    host, tool = "txtai", "txtai"
    fill_batch = 1000
    unfair = (
        HOP,
        "It is made for building an index once. Saving after each write is the only way to keep each write.",
    )

    def install(self) -> None:
        """See the base."""
        self.home.by_pip(self.tool, PACKAGES, ALONE)
