"""What is recorded of a run already, and under which key each question of this run stands.

Live, a question has the next number of its stem. Where there is a recording, the run is given the answer to what it
asks: the first one of the stem whose question was the same, whichever was asked first then. So calls that are made at
once get their own answers, also in another order."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .models import Dependency
from .receipts import canonical


def digest_of(question: Any) -> str | None:
    """The digest that the server has of a question; nothing is asked with None."""
    if question is None:
        return None
    return hashlib.sha256(canonical(question).encode()).hexdigest()


# Of these there is no answer, and their numbers are taken.
_TO_ASK_AGAIN = frozenset({"erased", "visibility", "failed"})


@dataclass
class _Stem:
    asked: int = 0
    fresh: int = 1
    numbers: dict[int, Dependency] = field(default_factory=dict)
    by_question: dict[str | None, deque[int]] = field(default_factory=dict)
    given: set[int] = field(default_factory=set)

    def same(self, digest: str | None) -> int | None:
        """The first one that asked this and was not given yet."""
        found = self.by_question.get(digest)
        while found:
            number = found.popleft()
            if number not in self.given:
                return number
        return None

    def in_place(self, place: int) -> int:
        """What was asked in this place; where that was given already, the first one that was not."""
        if place in self.numbers and place not in self.given:
            return place
        return next((number for number in sorted(self.numbers) if number not in self.given), place)

    def new(self, _place: int) -> int:
        """A number that no question has."""
        while self.fresh in self.given or self.fresh in self.numbers:
            self.fresh += 1
        return self.fresh


class Keys:
    """The keys of one run. Threads may share it."""

    def __init__(self, recorded: Iterable[Dependency] = ()) -> None:
        self._stems: dict[str, _Stem] = {}
        self._recorded: dict[str, Dependency] = {}
        self._lock = threading.Lock()
        self.know(recorded)

    def know(self, recorded: Iterable[Dependency]) -> None:
        """These are recorded already."""
        with self._lock:
            for answer in recorded:
                self._recorded[answer.key] = answer
                stem, number = _parts(answer.key)
                if number is not None:
                    counts = self._stems.setdefault(stem, _Stem())
                    counts.numbers[number] = answer
                    if answer.withheld not in _TO_ASK_AGAIN:
                        counts.by_question.setdefault(_digest(answer), deque()).append(number)

    def recorded(self, key: str) -> Dependency | None:
        """What is recorded under this key."""
        return self._recorded.get(key)

    def next(self, stem: str) -> int:
        """The number of the next question of this stem, which ends with its separator, whatever it asks."""
        with self._lock:
            counts = self._stems.setdefault(stem, _Stem())
            counts.asked += 1
            number = counts.asked
            while number in counts.given:
                number += 1
            counts.given.add(number)
            return number

    def arrive(self, stem: str) -> int:
        """The place of a question among those of its stem. `matching` says which key it has."""
        with self._lock:
            counts = self._stems.setdefault(stem, _Stem())
            counts.asked += 1
            return counts.asked

    def matching(self, stem: str, place: int, digest: str | None, *, replays: bool) -> tuple[int, Dependency | None]:
        """The number of a question, and what is recorded of it.

        One that was never asked has a number of its own where it can still be asked, so that no answer is taken for
        that of another question. A replay can ask nobody: it is given what was asked in its place."""
        with self._lock:
            counts = self._stems.setdefault(stem, _Stem())
            same = counts.same(digest)
            other = counts.in_place if replays else counts.new
            number = other(place) if same is None else same
            counts.given.add(number)
            return number, None if same is None and not replays else counts.numbers.get(number)


def _digest(answer: Dependency) -> str | None:
    return None if answer.request_sha256 is None else answer.request_sha256.removeprefix("sha256:")


def _parts(key: str) -> tuple[str, int | None]:
    """The stem with its separator, and the number."""
    digits = len(key) - len(key.rstrip("0123456789"))
    stem, number = key[: len(key) - digits], key[len(key) - digits :]
    if not number or number.startswith("0") or stem[-1:] not in {":", "-"}:
        return key, None
    return stem, int(number)
