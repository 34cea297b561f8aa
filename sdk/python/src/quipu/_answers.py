"""Recorded answers: their keys and kinds, and calls that ended with an error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from ._wire import present
from .errors import RecordedError

Kind = Literal[
    "llm_provider_response",
    "mcp_tool_return",
    "secret_value",
    "time",
    "host_fact",
    "tool_result",
    "event_payload",
    "checkpoint_value",
]
Visibility = Literal["public", "internal", "receipt_only"]

KINDS: dict[str, Kind] = {
    "llm": "llm_provider_response",
    "mcp": "mcp_tool_return",
    "secret": "secret_value",
    "time": "time",
    "host": "host_fact",
    "tool": "tool_result",
    "event": "event_payload",
    "checkpoint": "checkpoint_value",
}

# What the server takes for the message of a failure, in bytes.
LONGEST_MESSAGE = 65_536


def kind_of(key: str) -> Kind:
    """The kind that keys of this class have by custom."""
    if key.startswith("host:tools."):
        return "tool_result"
    return KINDS.get(key.partition(":")[0], "host_fact")


class Keys:
    """Numbers questions, from 1, in the order in which they are asked."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def next(self, stem: str) -> int:
        """How often it was asked now."""
        with self._lock:
            self._counts[stem] = self._counts.get(stem, 0) + 1
            return self._counts[stem]


@dataclass(frozen=True)
class Override:
    """A substitute for one recorded answer."""

    value: Any
    kind: Kind | None = None
    reason: str | None = None
    visibility: Visibility | None = None

    def as_body(self, key: str) -> dict[str, Any]:
        """As the server takes it."""
        said = present(reason=self.reason, visibility=self.visibility)
        return {"kind": self.kind or kind_of(key), "value": self.value, **said}


def overrides_body(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides by key; a value that is no Override is the answer itself."""
    wrapped = {key: it if isinstance(it, Override) else Override(it) for key, it in overrides.items()}
    return {key: override.as_body(key) for key, override in wrapped.items()}


def failure_value(error: Exception, secrets: Iterable[Any] = ()) -> dict[str, Any]:
    """How a call that raised is recorded."""
    kind = type(error)
    return {"$error": {"code": f"{kind.__module__}.{kind.__qualname__}", "message": message_of(error, secrets)}}


def message_of(error: BaseException, secrets: Iterable[Any] = ()) -> str:
    """What an error says, as it may be kept: without secrets, as text that can be written, and not too long."""
    said = str(error)
    # The longest first: one secret may be a part of another.
    for hidden in sorted({text for secret in secrets for text in _texts(secret)}, key=len, reverse=True):
        said = said.replace(hidden, "[secret]")
    return said.encode(errors="replace")[:LONGEST_MESSAGE].decode(errors="ignore")


def _texts(secret: Any) -> Iterator[str]:
    if isinstance(secret, str):
        if secret:
            yield secret
    elif isinstance(secret, Mapping):
        yield from _texts(list(secret.values()))
    elif isinstance(secret, list | tuple):
        for part in secret:
            yield from _texts(part)


def raise_recorded(value: Any) -> None:
    """Raises where the recorded answer is an error."""
    if not isinstance(value, dict) or set(value) != {"$error"} or not isinstance(value["$error"], dict):
        return
    said = value["$error"]
    raise recorded_error(str(said.get("code", "error")), str(said.get("message", "")))


def recorded_error(code: str, message: str) -> RecordedError:
    """The error of a recorded call. Code that catches the type which was raised then catches it too."""
    original = _loaded(code)
    if original is None:
        return RecordedError(code, message)
    try:
        both = type(original.__name__, (RecordedError, original), {})
        error: Any = original.__new__(both, message)
        RecordedError.__init__(error, code, message)
    except (TypeError, AttributeError):  # a type that cannot be made of a message, or has a `code` of its own
        return RecordedError(code, message)
    return cast("RecordedError", error)


def _loaded(code: str) -> type[Exception] | None:
    # Nothing is imported for what a recording says; only what the program has loaded is looked at.
    module, _, name = code.rpartition(".")
    while module and module not in sys.modules:  # a class within a class
        module, _, outer = module.rpartition(".")
        name = f"{outer}.{name}"
    found: Any = sys.modules.get(module)
    for step in name.split("."):
        found = getattr(found, step, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None
