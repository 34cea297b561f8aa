"""What a store found, as JSON and back, so that a run can record it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.store.base import GetOp, Item, ListNamespacesOp, Op, Result, SearchItem


def written(results: Sequence[Result]) -> list[Any]:
    """Results as JSON."""
    return [_plain(result) for result in results]


def _plain(result: Any) -> Any:
    if isinstance(result, Item):
        return result.dict()
    if isinstance(result, list):
        return [_plain(it) for it in result]
    return result


def read_back(ops: Sequence[Op], value: Any) -> list[Result]:
    """The results of these operations, from JSON."""
    if not isinstance(value, list) or len(value) != len(ops):
        raise ValueError(f"an answer of the store has one entry for each of {len(ops)} operations: {value!r:.80}")
    return [_result(op, found) for op, found in zip(ops, value, strict=True)]


def _result(op: Op, found: Any) -> Result:
    if isinstance(op, GetOp):
        return None if found is None else Item(**found)
    if isinstance(op, ListNamespacesOp):
        return [tuple(namespace) for namespace in found]
    return [SearchItem(**{**item, "namespace": tuple(item["namespace"])}) for item in found]
