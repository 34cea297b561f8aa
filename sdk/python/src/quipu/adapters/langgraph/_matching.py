"""Which items and namespaces are asked for. Nothing here waits or knows of a server."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from langgraph.store.base import ListNamespacesOp, MatchCondition

_ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def passes(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Whether a value has what a filter asks for."""
    return all(_holds(value.get(name), wanted) for name, wanted in (conditions or {}).items())


def _holds(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compares(actual, name, limit) for name, limit in wanted.items())
        return isinstance(actual, Mapping) and passes(actual, wanted)
    if isinstance(wanted, (list, tuple)):
        alike = isinstance(actual, (list, tuple)) and len(actual) == len(wanted)
        return alike and all(_holds(*pair) for pair in zip(actual, wanted, strict=True))
    return bool(actual == wanted)


def _compares(actual: Any, name: str, limit: Any) -> bool:
    if name == "$eq":
        return bool(actual == limit)
    if name == "$ne":
        return bool(actual != limit)
    if name not in _ORDERED:
        raise ValueError(f"filter: there is no operator {name}")
    try:
        return _ORDERED[name](actual, limit)
    except TypeError:
        # What cannot be compared is neither more nor less.
        return False


def under(namespace: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    """Whether a namespace is this one or below it."""
    return namespace[: len(prefix)] == tuple(prefix)


def listed(namespaces: set[tuple[str, ...]], asked: ListNamespacesOp) -> list[tuple[str, ...]]:
    """The namespaces that a listing shows, in order and each once."""
    found = {name for name in namespaces if all(_fits(name, rule) for rule in asked.match_conditions or ())}
    shown = sorted({name[: asked.max_depth] for name in found})
    return shown[asked.offset : asked.offset + asked.limit]


def _fits(namespace: tuple[str, ...], rule: MatchCondition) -> bool:
    if len(rule.path) > len(namespace):
        return False
    part = namespace[: len(rule.path)] if rule.match_type == "prefix" else namespace[len(namespace) - len(rule.path) :]
    return all(wanted in ("*", name) for name, wanted in zip(part, rule.path, strict=True))
