"""MenteDB by its Python wheel."""

from __future__ import annotations

from .hosted import HOP, Hosted

PACKAGES = ["mentedb==0.44.0"]


class Mentedb(Hosted):
    """A memory engine in Rust with a Python wheel."""

    name = "mentedb"
    title = "MenteDB"
    version = "0.44.0"
    setup = "PyPI mentedb, engine in process, vectors of the stub given with each text"
    promise = "written to a write-ahead log of its own and synced"
    host, tool = "mentedb", "mentedb"
    unfair = (
        HOP,
        "The wheel, not `mentedb-server`: one writer for each database, so clients take turns.",
        "`search` by vector, its way to be given vectors from outside; its turn pipeline stores and ranks otherwise.",
    )

    def install(self) -> None:
        """See the base."""
        self.home.by_pip(self.tool, PACKAGES)
