"""Writes what somebody recorded into a text that a model reads, so that it stays a quotation. The server's own tools
for models follow the same rule: one line between double quotes, and whatever could end the line, end the quotation,
turn the writing around or hide in it is written as an escape."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
# Control characters, letters that are not seen or change how others are seen, and ends of elements and special tokens.
_ESCAPED = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    '\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"\\\\]|<(?=[/|!?])'
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def quoted(text: str) -> str:
    """A text as a quotation: `"The harbour is closed.\\nUntil May."`."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def named(name: str) -> str:
    """A name as it is where it has only letters, digits, `-`, `_` and `.`; else as a quotation."""
    return name if _PLAIN.fullmatch(name) else quoted(name)


def _escape(found: re.Match[str]) -> str:
    letter = found.group()
    return _SHORT.get(letter) or f"\\u{{{ord(letter):x}}}"
