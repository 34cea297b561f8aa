"""Items of a store as memory units and back. The unit's content is for readers and for ranking; what was put, exactly,
is in its evidence, so that a purge of the unit takes all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langgraph.store.base import get_text_at_path

from ..._wire import encode
from ...models import MemoryUnit

MARK = "quipu.store:"
# An entry of evidence has at most 64 KiB, a character at most four bytes.
_CHUNK = 16_000
# The content of a unit has at most 1 MiB.
_TEXT_MAX = 250_000
_ID_BYTES_MAX = 256

Address = tuple[tuple[str, ...], str]


@dataclass(frozen=True)
class Stored:
    """An item as one unit holds it."""

    unit_id: str
    epoch: int
    address: Address
    value: dict[str, Any]
    indexed: bool
    created_at: datetime
    updated_at: datetime


def task_of(address: Address) -> str:
    """The task that the versions of one item serve: it keeps them together and apart from all others."""
    namespace, key = address
    name = "store:" + "/".join((*namespace, key))
    if len(name.encode()) <= _ID_BYTES_MAX and name.isprintable():
        return name
    return "store:" + hashlib.sha256(json.dumps([namespace, key]).encode()).hexdigest()


def evidence_of(address: Address, value: Mapping[str, Any], *, indexed: bool, created_at: datetime | None) -> list[str]:
    """What was put, in as many entries as it takes."""
    namespace, key = address
    said: dict[str, Any] = {"namespace": namespace, "key": key, "value": value, "indexed": indexed}
    if created_at is not None:
        said["created_at"] = created_at.isoformat()
    text = encode(said).decode()
    return [MARK + text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK)]


def content_of(address: Address, value: Mapping[str, Any], index: Sequence[str] | bool | None) -> str:
    """What other agents read, and what a search looks at: the chosen fields, or everything that is said."""
    namespace, key = address
    if index is False:
        texts: list[str] = []
    elif isinstance(index, Sequence):
        texts = [text for path in index for text in get_text_at_path(value, path)]
    else:
        texts = list(_lines(value))
    # An item that says nothing in words is at least called something.
    return "\n".join(texts)[:_TEXT_MAX].strip() or f"{'/'.join(namespace)}: {key}"


def _lines(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for member, inner in value.items():
            yield from _lines(inner, f"{name} {member}".strip())
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _lines(inner, name)
    elif isinstance(value, str):
        yield value if name in _PLAIN else f"{name}: {value}"
    elif value is not None:
        yield f"{name}: {json.dumps(value)}"


# Members that only say that a text follows.
_PLAIN = frozenset({"", "text", "content", "data", "memory", "value"})


def read_item(unit: MemoryUnit) -> Stored | None:
    """The item that a unit holds; None for the units of others."""
    evidence = unit.confidence.evidence if unit.confidence else []
    text = "".join(entry.removeprefix(MARK) for entry in evidence if entry.startswith(MARK))
    if not text or unit.source is None or unit.epoch is None:
        return None
    try:
        said = json.loads(text)
        address = (tuple(said["namespace"]), said["key"])
        updated = _time(unit.source.timestamp)
        created = _time(said.get("created_at") or unit.source.timestamp)
        return Stored(unit.id, unit.epoch, address, said["value"], said["indexed"], created, updated)
    except (ValueError, TypeError, KeyError):
        # Somebody else's evidence that happens to begin like ours.
        return None


def _time(text: str) -> datetime:
    # Python 3.10 does not know the letter.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
