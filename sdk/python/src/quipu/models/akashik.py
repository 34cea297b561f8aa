"""The answers of the Akashik Protocol's operations."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from .._quote import named, quoted
from .base import Open


class Intent(Open):
    """Why a unit exists."""

    purpose: str
    question: str | None = None
    task_id: str | None = None


class Confidence(Open):
    """How sure its author is."""

    score: float | None = None
    reasoning: str | None = None
    evidence: list[str] = []
    assumptions: list[str] = []


class Relation(Open):
    """How a unit stands to another."""

    type: str
    target_id: str
    description: str | None = None


class Source(Open):
    """Who recorded a unit, and when."""

    agent_id: str
    agent_role: str
    session_id: str | None = None
    timestamp: str


class MemoryUnit(Open):
    """A unit; in the formats `summary` and `ids_only` only a part of it is there."""

    id: str
    mode: str | None = None
    type: str | None = None
    content: str | None = None
    intent: Intent | None = None
    confidence: Confidence | None = None
    relations: list[Relation] = []
    source: Source | None = None
    status: str | None = None
    epoch: int | None = None
    archived: bool = False


class Resolution(Open):
    """How a conflict was settled."""

    strategy: str
    winner_id: str | None = None
    rationale: str
    resolved_by: str
    epoch_resolved: int


class Conflict(Open):
    """Two units that disagree."""

    id: str
    type: str
    status: str
    unit_a: str
    unit_b: str
    description: str
    detected_by: str
    resolution: Resolution | None = None


class Answer(Open):
    """What every answer may have: a word, and what was sent in vain."""

    status: str
    warnings: list[str] = []


class AgentInfo(Open):
    """An agent as the Field knows it."""

    id: str
    role: str
    interests: list[str] = []
    authority_level: int
    status: str
    current_task_id: str | None = None


class AgentList(Open):
    """The agents that are registered now."""

    agents: list[AgentInfo]


class ConflictList(Open):
    """The conflicts that are not resolved."""

    conflicts: list[Conflict]


class Registered(Answer):
    """The answer to REGISTER."""

    agent: AgentInfo | None = None
    field_capabilities: dict[str, Any] = {}
    rejection_reason: str | None = None


class Deregistered(Answer):
    """The answer to DEREGISTER."""

    cleanup: dict[str, int] = {}


class Recorded(Answer):
    """The answer to RECORD. The unit is on stable storage."""

    memory_unit_id: str
    epoch: int
    conflicts_detected: list[str] = []
    conflict_detection: Any = None


class RecordedAll(Answer):
    """The answer to RECORD of several units, with one for each, in their order. All of them are on stable storage."""

    epoch: int
    units: list[Recorded]


class ScopedUnit(Open):
    """A unit, and why it is shown."""

    memory_unit: MemoryUnit
    relevance_score: float
    relevance_reason: str
    format: str | None = None
    explanation: Any = None


class ContextBudget(Open):
    """What there was, and what fitted."""

    units_available: int
    units_returned: int
    tokens_budget: int | None = None
    tokens_used: int | None = None


class Attuned(Answer):
    """The answer to ATTUNE: what matters, the most relevant first."""

    epoch: int
    record: list[ScopedUnit]
    conflicts: list[Conflict] = []
    context_budget: ContextBudget
    as_of_epoch: int | None = None
    trace_id: str | None = None

    @property
    def units(self) -> list[MemoryUnit]:
        """The units without their reasons."""
        return [found.memory_unit for found in self.record]

    def as_text(self) -> str:
        """One line for each unit, ready for a prompt. What others wrote is quoted, so that none of it can look like
        a line of its own."""
        return "\n".join(_line(found.memory_unit) for found in self.record)


def _line(unit: MemoryUnit) -> str:
    by = named(unit.source.agent_id) if unit.source else "unknown"
    doubt = " (contested)" if unit.status == "contested" else ""
    return f"- [{named(unit.type or 'unit')} by {by}{doubt}, {named(unit.id)}] {quoted(unit.content or '')}"


class Detected(Answer):
    """The answer to DETECT."""

    conflicts: list[Conflict]
    scan_coverage: dict[str, int] = {}
    next_cursor: str | None = None


class Merged(Answer):
    """The answer to MERGE."""

    conflict: Conflict
    side_effects: dict[str, Any] = {}
    vote: dict[str, int] | None = None


class TimelineEvent(Open):
    """One event of a REPLAY."""

    epoch: int
    event_type: str
    agent_id: str
    description: str
    memory_unit_id: str | None = None
    task_id: str | None = None
    timestamp: str | None = None


class Replayed(Answer):
    """The answer to REPLAY: how something came about."""

    summary: str
    timeline: list[TimelineEvent] = []
    agents_involved: list[str] = []
    total_events: int


class Compacted(Answer):
    """The answer to COMPACT."""

    units_affected: int
    synthesis_units_created: int
    storage_reclaimed_bytes: int | None = None


class Task(Open):
    """A task of COORDINATE."""

    id: str
    title: str
    intent: Intent
    status: str
    created_by: str
    assigned_to: str | None = None
    session_id: str | None = None
    depends_on: list[str] = []
    priority: int = 0
    needs_reassignment: bool = False
    blocked_reason: str | None = None
    result_unit_ids: list[str] = []
    lease_expires_at: str | None = None
    epoch_created: int
    epoch_updated: int


class Coordinated(Answer):
    """The answer to COORDINATE: the task, or for `list` the tasks."""

    task: Task | None = None
    tasks: list[Task] = []


class HandoffContext(Open):
    """What is handed over."""

    summary: str | None = None
    memory_unit_ids: list[str] = []
    open_questions: list[str] = []
    conflict_ids: list[str] = []
    decisions: list[str] = []
    assumptions: list[str] = []
    next_steps: list[str] = []


class Handoff(Open):
    """A task on its way from one agent to another."""

    id: str
    task_id: str
    session_id: str | None = None
    from_agent: str
    to_agent: str
    reason: str
    status: str
    answer: str | None = None
    context: HandoffContext
    epoch_created: int
    epoch_updated: int


class HandedOff(Answer):
    """The answer to HANDOFF: the handoff, or for `list` the handoffs."""

    handoff: Handoff | None = None
    handoffs: list[Handoff] = []


class Session(Open):
    """A session of SESSION."""

    id: str
    goal: str
    status: str
    creator: str
    members: list[str] = []
    policy: dict[str, Any] = {}
    epoch_created: int
    epoch_ended: int | None = None


class SessionAnswer(Answer):
    """The answer to SESSION: the session, or for `list` the sessions."""

    session: Session | None = None
    sessions: list[Session] = []


class RestoredUnit(Open):
    """A unit that came back."""

    unit_id: str
    was: str
    status: str


class Restored(Answer):
    """The answer to a restoration."""

    restored: list[RestoredUnit]
    superseded_units: list[str] = []
    epoch: int


class Retracted(Answer):
    """The answer to a retraction."""

    unit_id: str
    was: str
    restored_units: list[str] = []
    epoch: int


class SubscriptionInfo(Open):
    """A subscription as the Field keeps it."""

    id: str
    agent_id: str
    events: list[str]
    cursor: str
    min_relevance: float | None = None
    debounce_ms: int | None = None
    epoch_created: int


class Subscribed(Answer):
    """The answer to SUBSCRIBE."""

    subscription: SubscriptionInfo | None = None
    subscriptions: list[SubscriptionInfo] = []
    sse_url: str | None = None
    websocket_url: str | None = None


class Notification(Open):
    """What a subscription pushes. `cursor` says where to resume."""

    subscription_id: str
    event: str
    epoch: int
    relevance_score: float
    summary: str
    memory_unit_id: str | None = None
    conflict_id: str | None = None
    requires_action: bool = False
    cursor: str


class FieldStatus(Open):
    """Clock, log position and counts of a Field."""

    name: str = Field(alias="field")
    epoch: int
    position: int
    head: str
    agents: int
    units: dict[str, Any] = {}
    conflicts: dict[str, Any] = {}
    field_capabilities: dict[str, Any] = {}


class LogPage(Open):
    """Commits of the log, headers only."""

    commits: list[dict[str, Any]]
    head: dict[str, Any]
    next_from: int | None = None
