"""A store over memory units, as plans. The Field is the truth; the index here only says which units may hold an item,
and every use of it asks the Field first what was recorded since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from langgraph.store.base import GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

from ..._agent_core import AgentCore
from ..._memory import MemoryType
from ..._plans import Page, Plan
from ..._wire import harn
from ...errors import InvalidTransition, NotFound
from ...models import MemoryUnit
from .._asked import asked, is_replaying
from ._items import Address, Stored, content_of, evidence_of, read_item, task_of
from ._matching import listed, passes, under
from ._results import read_back, written

# What one ATTUNE returns at most.
_UNITS_MAX = 10_000
# How many units a search looks at first, for each item that is wanted.
_FIRST_LOOK = 4
_GONE = frozenset({"superseded", "retracted"})

Purpose = Callable[[tuple[str, ...], str, Mapping[str, Any]], str]


def _default_purpose(namespace: tuple[str, ...], key: str, _value: Mapping[str, Any]) -> str:
    return f"To be remembered as {key} in {'/'.join(namespace)}"


class StoreCore:
    """The items of a Field that this agent sees."""

    def __init__(
        self, agent: AgentCore, kind: MemoryType, purpose: str | Purpose | None, confidence: float, reasoning: str
    ) -> None:
        self.agent = agent
        self.kind: MemoryType = kind
        self.purpose = purpose
        self.confidence = confidence
        self.reasoning = reasoning
        # By address, the units that may hold the item, each with its epoch.
        self._index: dict[Address, dict[str, int]] = {}
        self._since: int | None = None

    def batch(self, ops: Iterable[Op]) -> Plan[list[Result]]:
        """All of them: reads see what was there before, of two puts to one item the last one counts."""
        wanted = list(ops)
        reads = [op for op in wanted if not isinstance(op, PutOp)]
        puts = {(op.namespace, op.key): op for op in wanted if isinstance(op, PutOp)}
        if puts and not is_replaying():
            # Before anything is read, so that a batch asks once for what is new.
            yield from self._refresh()
        found: list[Result] = []
        if reads:
            question = [[type(op).__name__, *op] for op in reads]
            found = yield from asked(
                self.agent.link,
                "store",
                question,
                lambda: self._read_all(reads, fresh=bool(puts)),
                encode=written,
                decode=lambda value: read_back(reads, value),
            )
        if not is_replaying():
            for put in puts.values():
                yield from self._put(put)
        told = iter(found)
        return [None if isinstance(op, PutOp) else next(told) for op in wanted]

    def _read_all(self, reads: list[GetOp | SearchOp | ListNamespacesOp], *, fresh: bool) -> Plan[list[Result]]:
        if not fresh:
            yield from self._refresh()
        results: list[Result] = []
        for op in reads:
            results.append((yield from self._read(op)))  # noqa: PERF401 - no comprehension can yield from
        return results

    def _read(self, op: GetOp | SearchOp | ListNamespacesOp) -> Plan[Result]:
        if isinstance(op, GetOp):
            stored = yield from self._current((op.namespace, op.key))
            return None if stored is None else _item(stored)
        if isinstance(op, SearchOp):
            return (yield from self._search(op))
        living = yield from self._living()
        return listed({namespace for namespace, _ in living}, op)

    def _refresh(self) -> Plan[None]:
        """Takes in what was recorded since the last time, by whomever."""
        scope = {"recency_weight": 1.0, "include_archived": True}
        new = yield from self.agent.attune(max_units=_UNITS_MAX, include_own=True, since_epoch=self._since, scope=scope)
        for shown in new.record:
            self._note(shown.memory_unit)
        if new.context_budget.units_returned < new.context_budget.units_available:
            yield from self._page_through()
        self._since = max(new.epoch, self._since or 0)

    def _page_through(self) -> Plan[None]:
        """More than one ATTUNE can show: page by page."""
        cursor: str | None = None
        while True:
            path = "/v1/memories?limit=200" + (f"&cursor={cursor}" if cursor else "")
            page = yield from self.agent.link.ask(harn("GET", path, agent=self.agent.id), Page)
            for memory in page.data:
                recorded = memory["provenance"]["recorded"]
                if str(recorded["task_id"]).startswith("store:") and recorded["status"] not in _GONE:
                    self._note((yield from self.agent.unit(memory["id"])))
            cursor = page.next_cursor
            if cursor is None:
                return

    def _note(self, unit: MemoryUnit) -> None:
        stored = read_item(unit)
        if stored is not None:
            self._index.setdefault(stored.address, {})[stored.unit_id] = stored.epoch

    def _newest_first(self, address: Address) -> list[str]:
        known = self._index.get(address, {})
        return sorted(known, key=lambda unit: known[unit], reverse=True)

    def _current(self, address: Address) -> Plan[Stored | None]:
        """The item as it is now. Units that were withdrawn, by this process or another, are forgotten."""
        for unit_id in self._newest_first(address):
            try:
                unit = yield from self.agent.unit(unit_id)
            except NotFound:
                unit = None
            stored = read_item(unit) if unit and unit.status not in _GONE else None
            if stored is not None:
                return stored
            self._index.get(address, {}).pop(unit_id, None)
        self._index.pop(address, None)
        return None

    def _put(self, op: PutOp) -> Plan[None]:
        address = (op.namespace, op.key)
        before = yield from self._current(address)
        replaced = self._newest_first(address)
        if op.value is None:
            for unit_id in replaced:
                yield from self._retract(address, unit_id)
            self._index.pop(address, None)
            return
        created = before.created_at if before else None
        recorded = yield from self.agent.record(
            content_of(address, op.value, op.index),
            type=self.kind,
            purpose=self._purpose_of(op, op.value),
            task_id=task_of(address),
            confidence=self.confidence,
            reasoning=self.reasoning,
            evidence=evidence_of(address, op.value, indexed=op.index is not False, created_at=created),
            relations=[{"type": "supersedes", "target_id": unit_id} for unit_id in replaced],
        )
        self._index[address] = {recorded.memory_unit_id: recorded.epoch}

    def _purpose_of(self, op: PutOp, value: Mapping[str, Any]) -> str:
        if isinstance(self.purpose, str):
            return self.purpose
        return (self.purpose or _default_purpose)(op.namespace, op.key, value)

    def _retract(self, address: Address, unit_id: str) -> Plan[None]:
        """Takes a unit back, and what comes back because of that: earlier values under the same key."""
        namespace, key = address
        purpose = f"{key} was deleted from {'/'.join(namespace)}"
        left = [unit_id]
        while left:
            try:
                gone = yield from self.agent.retract(left.pop(), purpose=purpose)
            except InvalidTransition:
                # Somebody was faster.
                continue
            left.extend(gone.restored_units)

    def _search(self, op: SearchOp) -> Plan[list[SearchItem]]:
        wanted = op.offset + op.limit
        look = min(max(wanted * _FIRST_LOOK, 64), _UNITS_MAX)
        while True:
            scope: dict[str, Any] = {} if op.query else {"recency_weight": 1.0}
            answer = yield from self.agent.attune(op.query, max_units=look, include_own=True, scope=scope)
            ranked = ((read_item(shown.memory_unit), shown.relevance_score) for shown in answer.record)
            found = list(self._matching(op, ranked))
            budget = answer.context_budget
            if len(found) >= wanted or look >= _UNITS_MAX or budget.units_returned >= budget.units_available:
                return found[op.offset : wanted]
            # The order of what comes first stays when more is asked for.
            look = min(look * 8, _UNITS_MAX)

    def _matching(self, op: SearchOp, ranked: Iterable[tuple[Stored | None, float]]) -> Iterator[SearchItem]:
        for stored, score in ranked:
            if stored is None or not under(stored.address[0], op.namespace_prefix):
                continue
            # Two processes may have put at once: the later one counts.
            if stored.epoch < max(self._index.get(stored.address, {}).values(), default=0):
                continue
            if passes(stored.value, op.filter) and (stored.indexed or not op.query):
                yield _found(stored, score if op.query else None)

    def _living(self) -> Plan[list[Address]]:
        """The addresses that hold something now."""
        scope = {"include_archived": True, "recency_weight": 1.0}
        shown = yield from self.agent.attune(max_units=_UNITS_MAX, include_own=True, format="ids_only", scope=scope)
        if shown.context_budget.units_returned >= shown.context_budget.units_available:
            there = {found.memory_unit.id for found in shown.record}
            return [address for address, units in self._index.items() if not there.isdisjoint(units)]
        for address in list(self._index):
            # What is gone is forgotten by this.
            yield from self._current(address)
        return list(self._index)


def _item(stored: Stored) -> Item:
    namespace, key = stored.address
    return Item(
        value=stored.value, key=key, namespace=namespace, created_at=stored.created_at, updated_at=stored.updated_at
    )


def _found(stored: Stored, score: float | None) -> SearchItem:
    namespace, key = stored.address
    return SearchItem(namespace, key, stored.value, stored.created_at, stored.updated_at, score)
