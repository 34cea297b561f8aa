"""`QuipuStore`: LangGraph's long-term memory in a Field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from langgraph.store.base import BaseStore, Op, Result

from .._either import Either
from ._store_core import Purpose, StoreCore

if TYPE_CHECKING:
    from ..._memory import MemoryType
    from ...field import AsyncField, Field


class QuipuStore(BaseStore):
    """A store whose items are memory units: every put is a RECORD that supersedes the one before, every delete
    withdraws. Other agents of the Field find the items by ATTUNE; `search` ranks as ATTUNE does.

    Stores with the same `agent` may be used by many processes at once. There is no TTL."""

    __slots__ = ("_core", "_field")

    def __init__(
        self,
        field: Field | AsyncField,
        *,
        agent: str = "langgraph-store",
        role: str = "store",
        type: MemoryType = "finding",
        purpose: str | Purpose | None = None,
        confidence: float = 0.7,
        reasoning: str = "As a graph put it into its store",
    ) -> None:
        """`purpose` is the intent of every unit, or a function of namespace, key and value that says it."""
        self._field = Either(field)
        self._core = StoreCore(self._field.agent(agent, role), type, purpose, confidence, reasoning)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries the operations out: the reads, then the puts."""
        return self._field.blocking(self._core.batch(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, awaited."""
        return await self._field.awaiting(self._core.batch(ops))
