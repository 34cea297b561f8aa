"""How the writer works. The same function is run live, replayed exactly, and replayed with another answer. It cannot
tell which, because everything that it is told from outside comes through the run."""

from __future__ import annotations

from typing import Any

import quipu

from world import YEAR, World

FRONT_PAGE_FROM = 30_000


def write(run: quipu.Run, world: World, notes: list[str]) -> dict[str, Any]:
    """A story, and the page it is printed on."""
    counted = run.tool("tickets", "count", world.tickets, {"year": YEAR})
    visitors = counted["visitors"]
    text = run.llm("writer", world.model, {"task": "story", "visitors": visitors, "notes": notes})["text"]
    headline = run.llm("writer", world.model, {"task": "headline", "visitors": visitors})["text"]
    run.checkpoint("written")
    page = "the front page" if visitors >= FRONT_PAGE_FROM else "page seven"
    run.summary = f"{headline}, for {page}"
    return {"headline": headline, "text": text, "page": page}
