"""A thread's checkpoints and writes, folded from the Events of its Session. Nothing here waits or serializes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

CHECKPOINT = "vendor.langgraph.checkpoint"
WRITES = "vendor.langgraph.writes"
PRUNED = "vendor.langgraph.pruned"
PART = "vendor.langgraph.part"

# A request has at most 4 MiB; a character of JSON that is not ASCII is written with six.
_WHOLE_MAX = 3_000_000

Payload = dict[str, Any]
Place = tuple[str, str]
"""The namespace and the id of a checkpoint."""


def told(name: str, payload: Payload) -> Iterator[tuple[str, Payload]]:
    """The Events that say this: one, or as many parts as it takes."""
    text = json.dumps(payload)
    if len(text) <= _WHOLE_MAX:
        yield name, payload
        return
    cut = [text[start : start + _WHOLE_MAX] for start in range(0, len(text), _WHOLE_MAX)]
    whole = uuid4().hex
    for number, piece in enumerate(cut, 1):
        yield PART, {"event": name, "whole": whole, "number": number, "of": len(cut), "text": piece}


@dataclass
class Thread:
    """What a thread consists of. Serialized values stay as they were written."""

    last_event: str | None = None
    checkpoints: dict[Place, Payload] = field(default_factory=dict)
    writes: dict[Place, dict[tuple[str, int], Payload]] = field(default_factory=dict)
    values: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    _parts: dict[str, list[str]] = field(default_factory=dict)

    def hear(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Takes Events in, in their order. What a replay tells again has happened already."""
        for event in events:
            if not event["replayed"]:
                # Anybody who works on the Task may tell something under our names.
                with suppress(KeyError, TypeError, ValueError):
                    self.tell(event["event"], event["payload"])
            self.last_event = event["id"]

    def tell(self, name: str, payload: Payload) -> None:
        """Takes one of our Events in; all others are passed over."""
        if name == CHECKPOINT:
            place = (payload["ns"], payload["id"])
            self.checkpoints[place] = payload
            for channel, (version, value) in payload["values"].items():
                self.values[payload["ns"], channel, str(version)] = value
        elif name == WRITES:
            self._take_writes(payload)
        elif name == PRUNED:
            self._forget({(place[0], place[1]) for place in payload["checkpoints"]})
        elif name == PART:
            self._join(payload)

    def _take_writes(self, payload: Payload) -> None:
        there = self.writes.setdefault((payload["ns"], payload["id"]), {})
        for index, channel, value in payload["writes"]:
            key = (payload["task"], index)
            # A write is what it was the first time; only special channels, below zero, are written anew.
            if index < 0 or key not in there:
                there[key] = {"channel": channel, "value": value, "path": payload["path"]}

    def _join(self, payload: Payload) -> None:
        pieces = self._parts.setdefault(payload["whole"], [])
        # A part that was told twice, or after its beginning was missed, is none.
        if payload["number"] == len(pieces) + 1:
            pieces.append(payload["text"])
        if len(pieces) == payload["of"]:
            del self._parts[payload["whole"]]
            self.tell(payload["event"], json.loads("".join(pieces)))

    def _forget(self, places: set[Place]) -> None:
        for place in places:
            self.checkpoints.pop(place, None)
            self.writes.pop(place, None)
        kept = {
            (ns, channel, str(version))
            for (ns, _), payload in self.checkpoints.items()
            for channel, version in payload["versions"].items()
        }
        self.values = {key: value for key, value in self.values.items() if key in kept}

    def newest_first(self, ns: str | None) -> list[Place]:
        """The checkpoints of a namespace, or of all; their ids grow with time."""
        there = [place for place in self.checkpoints if ns is None or place[0] == ns]
        return sorted(there, key=lambda place: place[1], reverse=True)

    def values_of(self, payload: Payload) -> dict[str, Any]:
        """The serialized values of a checkpoint's channels; None where a channel was empty."""
        found = ((name, (payload["ns"], name, str(version))) for name, version in payload["versions"].items())
        return {name: self.values[key] for name, key in found if self.values.get(key) is not None}

    def retold(self) -> Iterator[tuple[str, Payload]]:
        """All of it, as Events that another thread can be told."""
        for place in reversed(self.newest_first(None)):
            payload = self.checkpoints[place]
            # Values of older versions came with checkpoints that may be gone.
            versions, values = payload["versions"], self.values_of(payload)
            yield CHECKPOINT, {**payload, "values": {name: [versions[name], it] for name, it in values.items()}}
        for place, writes in self.writes.items():
            for (task, index), write in writes.items():
                said = {"ns": place[0], "id": place[1], "task": task, "path": write["path"]}
                yield WRITES, {**said, "writes": [[index, write["channel"], write["value"]]]}
