"""The minutes of a run: everybody has a share, nobody takes from those that come after."""

from __future__ import annotations

import itertools
import random

import pytest

from peers.turns import Turns
from peers.work.context import beyond


class Systems:
    """Systems that need so many seconds each, on a clock that only they move."""

    def __init__(self, needs: list[float], minutes: float, weights: list[float] | None = None) -> None:
        self.now = 100.0
        turns = Turns(weights or [1.0] * len(needs), minutes, clock=lambda: self.now)
        self.given: list[float] = []
        for need in needs:
            self.given.append(turns.next())
            self.now += min(need, self.given[-1])


def test_where_all_are_slow_all_have_the_same_time() -> None:
    slow = Systems([9_999.0] * 14, minutes=45)
    assert slow.given == pytest.approx([45 * 60 / 14] * 14)
    assert slow.now - 100 == pytest.approx(45 * 60)


def test_what_one_does_not_need_is_shared_by_those_after_it() -> None:
    assert Systems([40.0, 9_999.0, 9_999.0], minutes=5).given == pytest.approx([100.0, 130.0, 130.0])


def test_one_that_weighs_more_has_more() -> None:
    assert Systems([9_999.0] * 3, minutes=4, weights=[1.0, 2.0, 1.0]).given == pytest.approx([60.0, 120.0, 60.0])


def test_one_that_goes_over_its_turn_leaves_shares_of_the_rest_and_no_turn_is_negative() -> None:
    now = itertools.count(0.0, 100.0)
    turns = Turns([1.0, 1.0, 1.0], minutes=2, clock=lambda: next(now))
    assert [turns.next(), turns.next(), turns.next()] == pytest.approx([20 / 3, 0.0, 0.0])


@pytest.mark.parametrize("seed", range(50))
def test_whatever_they_need_each_has_its_even_share_and_the_run_ends_in_time(seed: int) -> None:
    chance = random.Random(seed)
    needs = [chance.choice([1.0, 60.0, 300.0, 9_999.0]) for _ in range(chance.randint(1, 20))]
    minutes = chance.uniform(1, 60)
    systems = Systems(needs, minutes)
    assert min(systems.given) >= minutes * 60 / len(needs) - 1e-6
    assert systems.now - 100 <= minutes * 60 + 1e-6


def test_a_size_far_out_of_reach_is_not_tried() -> None:
    assert beyond(there=0, used=0.0, size=1_000, seconds=150) == ""
    why = "not tried, since the first 10,000 units took 30 s"
    assert beyond(there=10_000, used=30.0, size=100_000, seconds=150) == why
    assert beyond(there=10_000, used=15.0, size=100_000, seconds=150) == ""
    assert beyond(there=1_000, used=150.0, size=10_000, seconds=150) != ""
