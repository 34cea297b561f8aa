"""Redis: commands as arrays of strings; answers of one string or number, and arrays where they are asked for."""

from __future__ import annotations

from .base import Refused, Wire


def request(*parts: str | bytes) -> bytes:
    """The bytes of a command."""
    raw = [part.encode() if isinstance(part, str) else part for part in parts]
    return b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in raw)


def _end(arrived: bytearray, at: int) -> int:
    """Where the answer that begins here ends; -1 if not all of it has arrived."""
    line = arrived.find(b"\r\n", at)
    if line < 0:
        return -1
    kind, rest = arrived[at : at + 1], bytes(arrived[at + 1 : line])
    end = line + 2
    if kind == b"$" and int(rest) >= 0:
        end += int(rest) + 2
    elif kind == b"*":
        for _ in range(max(int(rest), 0)):
            end = _end(arrived, end)
            if end < 0:
                return -1
    return end if end <= len(arrived) else -1


class Redis(Wire):
    """An answer is its bytes as they came."""

    def take(self, arrived: bytearray) -> bytes | None:
        """See the base."""
        end = _end(arrived, 0) if arrived else -1
        if end < 0:
            return None
        answer = bytes(arrived[:end])
        del arrived[:end]
        if answer[:1] == b"-":
            raise Refused(answer[1:301].decode(errors="replace"))
        return answer
