"""mem0 without a model, over its two local vector stores."""

from __future__ import annotations

from .hosted import HOP, Hosted

PACKAGES = ["mem0ai==2.2.1", "faiss-cpu==1.15.1"]
WITHOUT_MODEL = "`infer=False` skips what mem0 is for: the model that distils memories. With it a write takes seconds."


class Mem0(Hosted):
    """What both have in common."""

    version = "2.2.1"
    host, tool = "mem0", "mem0"
    fill_batch = 20

    def install(self) -> None:
        """See the base."""
        self.home.by_pip(self.tool, PACKAGES)


class Mem0Faiss(Mem0):
    """The vectors in a file."""

    name = "mem0-faiss"
    title = "mem0, faiss"
    setup = "PyPI mem0ai and faiss-cpu, `infer=False`, embedder `openai` at the stub"
    promise = "saved with the whole faiss index and all texts, which are not synced, and in a row of SQLite, which is"
    store = "faiss"
    unfair = (HOP, WITHOUT_MODEL)


class Mem0Qdrant(Mem0):
    """The vectors in Qdrant's local mode."""

    name = "mem0-qdrant"
    title = "mem0, Qdrant local"
    setup = "PyPI mem0ai with qdrant-client's local mode on disk, `infer=False`, embedder `openai` at the stub"
    promise = "written to SQLite, the point and a row of history, each synced"
    store = "qdrant"
    unfair = (
        HOP,
        WITHOUT_MODEL,
        "Qdrant's local mode is for tests, say its authors; its server is another program. BM25 needs a download.",
    )
