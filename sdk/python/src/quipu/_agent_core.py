"""The operations of an agent as plans. REGISTER is sent by the first of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from ._link import Link
from ._memory import Json, MemoryType, memory
from ._plans import Plan
from ._wire import Model, Request, akashik, bare, present, read, segment
from .errors import AgentIdTaken, AgentNotRegistered, PermissionDenied
from .models import (
    Attuned,
    Compacted,
    Confidence,
    Coordinated,
    Deregistered,
    Detected,
    HandedOff,
    HandoffContext,
    MemoryUnit,
    Merged,
    Recorded,
    RecordedAll,
    Registered,
    Relation,
    Replayed,
    Restored,
    Retracted,
    SessionAnswer,
    Subscribed,
)

Event = Literal[
    "memory.recorded",
    "memory.superseded",
    "memory.restored",
    "memory.contested",
    "conflict.detected",
    "conflict.resolved",
    "task.state_changed",
    "task.assigned",
    "task.completed",
    "handoff.incoming",
    "agent.joined",
    "agent.failed",
    "session.paused",
    "session.ended",
]


class AgentCore:
    """An agent of a Field, and the session that it speaks in."""

    def __init__(
        self,
        link: Link,
        id: str,
        role: str,
        interests: Sequence[str] = (),
        *,
        authority: int | None = None,
        session: str | None = None,
    ) -> None:
        self.link = link
        self.id = id
        self.role = role
        self.interests = list(interests)
        self.authority = authority
        self.session_id = session
        self.joined = False
        self._joining = self._register_request()

    def within(self, session: str | None) -> AgentCore:
        """The same agent, speaking in another session."""
        other = AgentCore(self.link, self.id, self.role, self.interests, authority=self.authority, session=session)
        other.joined = self.joined
        return other

    def _register_request(self) -> Request:
        payload = present(id=self.id, role=self.role, interests=self.interests, authority_level=self.authority)
        return akashik("REGISTER", payload, self.id, None)

    def register(self) -> Plan[Registered | None]:
        """REGISTER. None where the agent takes part already, with the role that it came with."""
        # Threads that come here at once send the very same message.
        joining = self._joining
        try:
            answer = yield from self.link.ask(joining, Registered)
        except AgentIdTaken:
            self.joined = True
            return None
        if answer.status == "rejected":
            raise PermissionDenied(str(answer.rejection_reason), code="REJECTED", operation="REGISTER")
        self.joined = True
        return answer

    def deregister(self, agent_id: str | None = None) -> Plan[Deregistered]:
        """DEREGISTER: this agent leaves, or another one; what it recorded stays."""
        who = agent_id or self.id
        answer = yield from self._operate("DEREGISTER", {"agent_id": who}, Deregistered)
        if who == self.id:
            self.joined = False
            self._joining = self._register_request()
        return answer

    def _operate(
        self, operation: str, payload: dict[str, Any], model: type[Model], message_id: str | None = None
    ) -> Plan[Model]:
        request = akashik(operation, payload, self.id, self.session_id, message_id)
        return (yield from self._registered(request, model))

    def _registered(self, request: Request, model: type[Model]) -> Plan[Model]:
        if not self.joined:
            yield from self.register()
        try:
            return (yield from self.link.ask(request, model))
        except AgentNotRegistered:
            # It left, or the server forgot everything. What was refused was not carried out.
            self.joined = False
            self._joining = self._register_request()
            yield from self.register()
            return (yield from self.link.ask(request, model))

    def record(
        self,
        content: str,
        *,
        purpose: str,
        type: MemoryType = "finding",
        confidence: float | Confidence | Json | None = None,
        reasoning: str | None = None,
        evidence: Sequence[str] | None = None,
        assumptions: Sequence[str] | None = None,
        question: str | None = None,
        task_id: str | None = None,
        relations: Iterable[Relation | Json] = (),
        supersedes: str | None = None,
        contradicts: str | None = None,
        draft: bool = False,
        message_id: str | None = None,
    ) -> Plan[Recorded]:
        """RECORD: adds a memory unit. Who gives the same `message_id` again, also in another process, records nothing
        new and has the same answer. A confidence and its reasoning are needed, except for a draft."""
        payload = memory(
            content,
            purpose=purpose,
            type=type,
            confidence=confidence,
            reasoning=reasoning,
            evidence=evidence,
            assumptions=assumptions,
            question=question,
            task_id=task_id,
            relations=relations,
            supersedes=supersedes,
            contradicts=contradicts,
            draft=draft,
        )
        return (yield from self._operate("RECORD", payload, Recorded, message_id))

    def record_all(self, units: Iterable[Json], *, message_id: str | None = None) -> Plan[RecordedAll]:
        """RECORD of several units, each made with `quipu.memory`: all of them or none, in one commit. 256 at most."""
        payload = {"units": list(units)}
        request = bare("/v1/records", payload, self.id, self.session_id, "RECORD", message_id=message_id)
        return (yield from self._registered(request, RecordedAll))

    def attune(
        self,
        hint: str | None = None,
        *,
        max_units: int = 10,
        max_tokens: int | None = None,
        role: str | None = None,
        interests: Sequence[str] | None = None,
        include_own: bool | None = None,
        since_epoch: int | None = None,
        as_of_epoch: int | None = None,
        relevance_threshold: float | None = None,
        active_task_id: str | None = None,
        explain: bool | None = None,
        format: Literal["full", "summary", "ids_only"] | None = None,
        scope: Json | None = None,
    ) -> Plan[Attuned]:
        """ATTUNE: what matters to this agent now. `scope` may have further members of the protocol's scope."""
        wanted = present(
            role=role or self.role,
            max_units=max_units,
            max_tokens=max_tokens,
            interests=interests,
            include_own=include_own,
            as_of_epoch=as_of_epoch,
            relevance_threshold=relevance_threshold,
            active_task_id=active_task_id,
            explain=explain,
        )
        payload = present(scope={**wanted, **(scope or {})}, context_hint=hint, since_epoch=since_epoch, format=format)
        return (yield from self._operate("ATTUNE", payload, Attuned))

    def detect(
        self,
        mode: Literal["list", "check", "scan"] = "list",
        *,
        target_id: str | None = None,
        status: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        involving_agents: Sequence[str] | None = None,
        cursor: str | None = None,
    ) -> Plan[Detected]:
        """DETECT: lists conflicts, or looks for new ones. A scan with a `next_cursor` goes on with it."""
        chosen = present(status=status, types=types, involving_agents=involving_agents)
        payload = present(mode=mode, target_id=target_id, filter=chosen or None, cursor=cursor)
        return (yield from self._operate("DETECT", payload, Detected))

    def merge(
        self,
        conflict_id: str,
        strategy: str,
        *,
        rationale: str,
        winner_id: str | None = None,
        synthesis: str | None = None,
        quorum: int | None = None,
    ) -> Plan[Merged]:
        """MERGE: settles a conflict."""
        resolution = present(rationale=rationale, winner_id=winner_id, synthesis=synthesis)
        payload = present(conflict_id=conflict_id, strategy=strategy, resolution=resolution, quorum=quorum)
        return (yield from self._operate("MERGE", payload, Merged))

    def replay(
        self,
        target_type: Literal["task", "memory_unit", "decision", "conflict", "session"],
        target_id: str,
        *,
        depth: Literal["summary", "detailed", "full_trace"] = "detailed",
    ) -> Plan[Replayed]:
        """REPLAY: tells how something came about. To run a Task again is `Field.replay`."""
        payload = {"target_type": target_type, "target_id": target_id, "depth": depth}
        return (yield from self._operate("REPLAY", payload, Replayed))

    def compact(
        self,
        strategy: Literal["archive", "summarize", "purge"],
        *,
        max_age_epochs: int | None = None,
        session_id: str | None = None,
        types: Sequence[str] | None = None,
        status: Sequence[str] | None = None,
        reason: str | None = None,
    ) -> Plan[Compacted]:
        """COMPACT: archives, summarizes or purges what passes the filter."""
        chosen = present(max_age_epochs=max_age_epochs, session_id=session_id, types=types, status=status)
        payload = present(strategy=strategy, filter=chosen or None, reason=reason)
        return (yield from self._operate("COMPACT", payload, Compacted))

    def coordinate(
        self,
        action: str,
        task_id: str | None = None,
        *,
        title: str | None = None,
        purpose: str | None = None,
        question: str | None = None,
        depends_on: Sequence[str] | None = None,
        priority: int | None = None,
        result_unit_ids: Sequence[str] | None = None,
        assignee: str | None = None,
        lease_ms: int | None = None,
        reason: str | None = None,
        filter: Json | None = None,
    ) -> Plan[Coordinated]:
        """COORDINATE: makes a task, moves it, or lists tasks."""
        task = present(
            id=task_id if action == "create" else None,
            title=title,
            intent=present(purpose=purpose, question=question) or None,
            depends_on=depends_on,
            priority=priority,
            result_unit_ids=result_unit_ids,
        )
        payload = present(
            action=action,
            task_id=None if action == "create" else task_id,
            task=task or None,
            assignee=assignee,
            lease_ms=lease_ms,
            reason=reason,
            filter=filter,
        )
        return (yield from self._operate("COORDINATE", payload, Coordinated))

    def handoff(
        self,
        action: Literal["offer", "accept", "reject", "cancel", "list"],
        *,
        task_id: str | None = None,
        to_agent: str | None = None,
        reason: str | None = None,
        context: HandoffContext | Json | None = None,
        handoff_id: str | None = None,
    ) -> Plan[HandedOff]:
        """HANDOFF: a task and its context go to another agent."""
        payload = present(
            action=action,
            task_id=task_id,
            to_agent=to_agent,
            reason=reason,
            context=context,
            handoff_id=handoff_id,
        )
        return (yield from self._operate("HANDOFF", payload, HandedOff))

    def session(
        self,
        action: Literal["create", "join", "leave", "pause", "resume", "end", "set_policy", "get", "list"],
        session_id: str | None = None,
        *,
        goal: str | None = None,
        policy: Json | None = None,
        agent_id: str | None = None,
    ) -> Plan[SessionAnswer]:
        """SESSION: opens, joins, pauses and ends sessions. `within` speaks in one."""
        draft = present(goal=goal, policy=policy)
        payload = present(action=action, session_id=session_id, session=draft or None, agent_id=agent_id)
        return (yield from self._operate("SESSION", payload, SessionAnswer))

    def retract(self, unit_id: str, *, purpose: str) -> Plan[Retracted]:
        """Withdraws a unit of its own."""
        payload = {"unit_id": unit_id, "intent": {"purpose": purpose}}
        request = bare("/v1/retract", payload, self.id, self.session_id, "RETRACT")
        return (yield from self._registered(request, Retracted))

    def restore(self, unit_ids: Sequence[str], *, purpose: str) -> Plan[Restored]:
        """Brings units back that were withdrawn or archived."""
        payload = {"unit_ids": list(unit_ids), "intent": {"purpose": purpose}}
        request = bare("/v1/restore", payload, self.id, self.session_id, "RESTORE")
        return (yield from self._registered(request, Restored))

    def unit(self, unit_id: str) -> Plan[MemoryUnit]:
        """One unit, whatever its status, if this agent may see it."""
        return (yield from self.link.ask(read(f"/v1/units/{segment(unit_id)}", self.id, self.session_id), MemoryUnit))

    def open_subscription(
        self, events: Sequence[Event], min_relevance: float | None, debounce_ms: int | None
    ) -> Plan[Subscribed]:
        """SUBSCRIBE."""
        wanted = present(events=list(events), min_relevance=min_relevance, debounce_ms=debounce_ms)
        return (yield from self._operate("SUBSCRIBE", {"action": "subscribe", "subscription": wanted}, Subscribed))

    def subscriptions(self) -> Plan[Subscribed]:
        """The agent's own subscriptions, oldest first."""
        return (yield from self._operate("SUBSCRIBE", {"action": "list"}, Subscribed))

    def unsubscribe(self, subscription_id: str) -> Plan[Subscribed]:
        """Ends a subscription for good."""
        payload = {"action": "unsubscribe", "subscription": {"id": subscription_id}}
        return (yield from self._operate("SUBSCRIBE", payload, Subscribed))
