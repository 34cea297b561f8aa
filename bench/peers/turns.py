"""Whose turn it is, and for how long: the minutes of a run, shared by all of its systems.

A turn is an even share of the time that is left. So nobody takes from those that come after it, and what one does not
need is shared by them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


class Turns:
    """The turns of some systems, in the order in which they begin. A system may weigh more than others."""

    def __init__(self, weights: Sequence[float], minutes: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.weights, self.clock = list(weights), clock
        self.end = clock() + minutes * 60

    def next(self) -> float:
        """Begins the next turn; its seconds."""
        waiting = sum(self.weights)
        return max(0.0, self.end - self.clock()) * self.weights.pop(0) / waiting
