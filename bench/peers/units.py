"""What is written and asked: seeded texts of about 500 bytes that look like what agents record, and their questions."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

SYLLABLES = ("ma", "ri", "to", "ne", "sol", "ka", "ver", "du", "li", "pon", "sta", "gem", "bra", "qui", "fo", "len")
VOCABULARY = 16_384
TEXT_BYTES = 500
WRITERS = 8
AGENTS = tuple(f"writer-{number}" for number in range(WRITERS))
READER = "peers-reader"


@dataclass(frozen=True)
class Unit:
    """One thing to remember."""

    id: str
    agent: str
    session: str
    text: str


def _word(rank: int) -> str:
    """The word of a rank: made up, and always the same."""
    chance = random.Random(rank * 7919)
    return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))


WORDS = tuple(_word(rank) for rank in range(VOCABULARY))


def _words(chance: random.Random, count: int) -> list[str]:
    """Words of which the first ranks come far more often, as in any language."""
    return [WORDS[int(VOCABULARY ** chance.random()) - 1] for _ in range(count)]


def _sentences(count: int) -> tuple[str, ...]:
    chance = random.Random(1)
    return tuple(" ".join(_words(chance, chance.randint(8, 15))) + "." for _ in range(count))


SENTENCES = _sentences(4096)


def text(seed: int, number: int) -> str:
    """Sentences up to the size, chosen by the numbers: cheap, since a load is made of them while it is measured."""
    state = (seed * 1_000_003 + number * 2 + 1) * 0x9E37_79B9_7F4A_7C15
    said = ""
    while len(said) < TEXT_BYTES:
        state = (state * 0x5851_F42D_4C95_7F2D + 0x1405_7B7E_F767_814F) & 0xFFFF_FFFF_FFFF_FFFF
        said += SENTENCES[state >> 52] + " "
    return said[:TEXT_BYTES].rsplit(" ", 1)[0]


def units(seed: int, first: int = 0) -> Iterator[Unit]:
    """Units without end, from a number on; the same seed and number give the same unit."""
    number = first
    while True:
        yield Unit(f"u-{seed}-{number}", f"writer-{number % WRITERS}", f"session-{number // 50}", text(seed, number))
        number += 1


def hints(seed: int) -> Iterator[str]:
    """Questions without end: eight words of the same language."""
    chance = random.Random(f"hints-{seed}")
    while True:
        yield " ".join(_words(chance, 8))
