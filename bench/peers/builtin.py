"""The model that Quipu has built in, read from this checkout: the others are given the vectors that it uses itself.

A text's vector is the mean of the vectors of its word pieces, at length 1; the original is in
`crates/quipu-recall/src/embed`.
"""

from __future__ import annotations

import struct
import unicodedata
from pathlib import Path
from typing import Any

from .places import PACKAGE

TABLE = PACKAGE.parents[1] / "crates" / "quipu-recall" / "models" / "static-256.bin"
MAGIC = b"quipuemb"
LONGEST_WORD = 100
MOST_TOKENS = 512


def pieces(text: str) -> list[str]:
    """Words in lower case without accents; each sign and each ideograph is a word of its own."""
    spread = []
    for letter in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(letter)
        if letter.isspace():
            spread.append(" ")
        elif kind in ("Mn", "Mc", "Me") or kind[0] == "C":
            continue
        elif kind[0] == "P" or (letter.isascii() and not letter.isalnum()) or "\u4e00" <= letter <= "\u9fff":
            spread.append(f" {letter} ")
        else:
            spread.append(letter)
    return "".join(spread).split()


class BuiltIn:
    """The table, unpacked."""

    def __init__(self, path: Path = TABLE) -> None:
        import numpy

        packed = path.read_bytes()
        if not packed.startswith(MAGIC):
            raise ValueError(f"{path} is not the table of the built-in model")
        _, self.dimensions, rows, size = struct.unpack_from("<4I", packed, len(MAGIC))
        at = len(MAGIC) + 16
        self.vocabulary = {token: number for number, token in enumerate(packed[at : at + size].decode().splitlines())}
        at += size + self.dimensions * 4  # the mean of English sentences is not needed here
        scales = numpy.frombuffer(packed, "<f4", rows, at)
        table = numpy.frombuffer(packed, "i1", rows * self.dimensions, at + rows * 4)
        self.numpy: Any = numpy
        self.rows: Any = table.reshape(rows, self.dimensions).astype("f4") * scales[:, None]
        self.known: dict[str, list[int]] = {}

    def tokens(self, word: str) -> list[int]:
        """The longest tokens that fit, one after the other; none where a part is not known."""
        if word in self.known:
            return self.known[word]
        found: list[int] = []
        rest, prefix = word, ""
        while rest:
            for end in range(len(rest), 0, -1):
                number = self.vocabulary.get(prefix + rest[:end])
                if number is not None:
                    break
            if number is None or len(word) > LONGEST_WORD:
                found = []
                break
            found.append(number)
            rest, prefix = rest[end:], "##"
        self.known[word] = found
        return found

    def of(self, texts: list[str]) -> list[list[float]]:
        """The vector of each text."""
        return [self.one(text) for text in texts]

    def one(self, text: str) -> list[float]:
        """The vector of a text; zeros where no word of it is known."""
        ids = [number for word in pieces(text) for number in self.tokens(word)][:MOST_TOKENS]
        total = self.rows[ids].sum(axis=0)
        length = float(self.numpy.linalg.norm(total))
        return [float(value) for value in (total / length if length else total)]
