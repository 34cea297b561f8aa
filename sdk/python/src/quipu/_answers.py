"""Recorded answers: their keys and kinds, and substitutes for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._exact import exact
from ._wire import present

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


def kind_of(key: str) -> Kind:
    """The kind that keys of this class have by custom."""
    if key.startswith("host:tools."):
        return "tool_result"
    return KINDS.get(key.partition(":")[0], "host_fact")


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
        return {"kind": self.kind or kind_of(key), "value": exact(self.value, escape=False), **said}


def overrides_body(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides by key; a value that is no Override is the answer itself."""
    wrapped = {key: it if isinstance(it, Override) else Override(it) for key, it in overrides.items()}
    return {key: override.as_body(key) for key, override in wrapped.items()}
