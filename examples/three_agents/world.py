"""The world outside: a ticket office and a model, both scripted. Whoever asks them is counted."""

from __future__ import annotations

from typing import Any

YEAR = 2025
VISITORS = 24_000


class World:
    """What the agents are told from outside. A replay must never ask it anything."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def tickets(self, year: int) -> dict[str, Any]:
        """The ticket office's own count."""
        self.asked.append("ticket office")
        return {"year": year, "visitors": VISITORS}

    def model(self, request: dict[str, Any]) -> dict[str, str]:
        """A model that always says the same when it is asked the same."""
        self.asked.append("model")
        if request["task"] == "headline":
            return {"text": f"{request['visitors']:,} climbed towards the light"}
        return {
            "text": "Ida Voss built the Kessel lighthouse in 1871. "
            f"Last year {request['visitors']:,} people climbed its 212 steps. "
            "In winter its keeper has the view to himself."
        }
