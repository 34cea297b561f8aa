"""One line of JSON each way: what the hosts of libraries speak."""

from __future__ import annotations

import json
from typing import Any

from .base import Refused, Wire


def request(call: str, **values: Any) -> bytes:
    """The bytes of a request."""
    return json.dumps({"call": call, **values}).encode() + b"\n"


class Lines(Wire):
    """An answer is the JSON of what the call gave; a line that begins with `!` refuses."""

    def take(self, arrived: bytearray) -> bytes | None:
        """See the base."""
        end = arrived.find(b"\n")
        if end < 0:
            return None
        line = bytes(arrived[:end])
        del arrived[: end + 1]
        if line[:1] == b"!":
            raise Refused(line[1:301].decode(errors="replace"))
        return line
