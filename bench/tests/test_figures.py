"""Percentiles, recall, and the counting of what survived."""

from __future__ import annotations

import math
from typing import Any

from peers.figures import percentile, recall, spread
from peers.machine import busy_ticks
from peers.work.survival import tally, total


def test_a_percentile_is_one_of_the_samples() -> None:
    samples = [5.0, 1.0, 3.0, 2.0, 4.0]
    assert [percentile(samples, share) for share in (0.0, 0.5, 0.99, 1.0)] == [1.0, 3.0, 5.0, 5.0]
    assert math.isnan(percentile([], 0.5))
    assert spread([2.0]) == {"p50_ms": 2.0, "p95_ms": 2.0, "p99_ms": 2.0}


def test_recall_counts_what_is_needed_among_the_first() -> None:
    found = [f"other-{number}" for number in range(9)] + ["a", "b"]
    assert recall(found, ["a", "b"]) == 0.5
    assert recall(found, ["a", "b"], depth=11) == 1.0
    assert recall(["a", "a"], ["a"]) == 1.0
    assert recall(found, []) == 0.0


def test_lost_is_what_was_acknowledged_and_is_not_there() -> None:
    counts = tally(["a", "b", "c"], {"b", "c", "d"})
    assert counts == {"acknowledged": 3, "survived": 2, "lost": 1, "unanswered_but_there": 1}


def test_two_answers_for_one_place_count_as_one_lost() -> None:
    """A server that forgets its last write may give the same number again."""
    assert tally(["7", "7"], {"7"})["lost"] == 1


def test_rounds_are_added_up_and_the_longest_recovery_is_kept() -> None:
    rounds: list[dict[str, Any]] = [
        {"acknowledged": 10, "lost": 1, "recovery_s": 0.5, "refused": 0},
        {"acknowledged": 20, "lost": 0, "recovery_s": 0.2, "refused": 2, "first_refusal": "full"},
    ]
    expected = {"acknowledged": 30, "lost": 1, "recovery_s": 0.5, "refused": 2, "first_refusal": "full"}
    assert total(rounds) == expected


def test_waiting_is_not_being_busy() -> None:
    assert busy_ticks("cpu  10 1 5 9000 700 2 3 4 6 0\ncpu0 1 1\n") == 25
