"""Numbers out of samples: percentiles as `quipu-bench` computes them, and what recall is."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def percentile(samples: Sequence[float], share: float) -> float:
    """The sample at this share of the sorted ones, the nearest where none is exactly there."""
    if not samples:
        return math.nan
    at = math.floor((len(samples) - 1) * share + 0.5)
    return sorted(samples)[at]


def spread(samples: Sequence[float]) -> dict[str, float]:
    """Milliseconds at the middle and at the end."""
    return {f"p{round(share * 100)}_ms": round(percentile(samples, share), 4) for share in (0.5, 0.95, 0.99)}


def recall(found: Sequence[str], gold: Collection[str], depth: int = 10) -> float:
    """The share of what is needed that is among the first."""
    wanted = set(gold)
    return len(wanted & set(found[:depth])) / len(wanted) if wanted else 0.0
