"""The resources of the Harn Agents Protocol that recording and replay need."""

from __future__ import annotations

from typing import Any

from pydantic import field_validator

from .._exact import restored
from .base import Open

OVER = frozenset({"COMPLETED", "FAILED", "CANCELED"})


class Resource(Open):
    """What every resource has."""

    id: str
    created_at: str
    updated_at: str
    metadata: dict[str, Any] = {}


class Failure(Open):
    """Why a Task failed."""

    code: str | None = None
    message: str = ""
    details: dict[str, Any] = {}


class HarnTask(Resource):
    """A Task."""

    status: str
    input: Any = None
    session_id: str
    workspace_id: str
    created_by: str
    persona_id: str | None = None
    parent_task_id: str | None = None
    assigned_agent_id: str | None = None
    receipt_id: str | None = None
    outcome_id: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    canceled_at: str | None = None
    failure: Failure | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended, with an Outcome."""
        return self.status in OVER

    @property
    def is_replay(self) -> bool:
        """Whether it repeats another one."""
        return self.parent_task_id is not None and self.id.startswith("task_replay")

    @property
    def text(self) -> str:
        """What it was submitted with, where that is a text."""
        parts = self.input.get("parts", []) if isinstance(self.input, dict) else []
        said = [part.get("text") for part in parts if isinstance(part, dict)]
        return self.input if isinstance(self.input, str) else "\n".join(text for text in said if isinstance(text, str))


class Persona(Resource):
    """Under which policy Tasks are worked on."""

    name: str
    version: str
    autonomy_tier: str
    receipt_policy: str


class Artifact(Resource):
    """A file, a dataset, a checkpoint."""

    kind: str
    mime_type: str
    uri: str | None = None
    sha256: str | None = None
    task_id: str | None = None


class Outcome(Resource):
    """What came of a Task."""

    task_id: str
    status: str
    summary: str
    failure: Failure | None = None
    receipt_id: str | None = None

    @property
    def output(self) -> Any:
        """What the worker returned."""
        return restored(self.metadata.get("output"))


class Dependency(Open):
    """One recorded answer."""

    task_id: str
    key: str
    kind: str
    event_id: str
    sha256: str | None = None
    request_sha256: str | None = None
    visibility: str
    value: Any = None
    artifact_id: str | None = None
    withheld: str | None = None


class Lease(Open):
    """For how long a Task is a worker's."""

    task_id: str
    agent_id: str
    expires_at: str


class Resolved(Open):
    """One answer that a replay is given."""

    key: str
    kind: str
    source: str
    value: Any = None
    artifact_id: str | None = None
    divergent: bool = False


class TaskEvent(Resource):
    """An Event of a Task's stream."""

    event: str
    sequence: int
    payload: dict[str, Any] = {}
    actor: str | None = None
    replayed: bool = False


class ChangedAnswer(Open):
    """An answer that a replay had otherwise than its source."""

    key: str
    overridden: bool
    source_sha256: str | None = None
    replay_sha256: str | None = None


class RequestDrift(Open):
    """A question that a replay asked otherwise."""

    key: str
    recorded: str | None = None
    asked: str | None = None


class OutputPair(Open):
    """What came of both."""

    equal: bool
    source: Any = None
    replay: Any = None

    _read = field_validator("source", "replay")(restored)


class Divergence(Open):
    """A replay beside its source."""

    source_task_id: str
    replay_task_id: str
    diverged: bool
    events_compared: int
    first_difference: dict[str, Any] | None = None
    dependencies: list[ChangedAnswer] = []
    request_drift: list[RequestDrift] = []
    output: OutputPair


class Verification(Open):
    """What a check of a receipt found."""

    valid: bool
    reason: str | None = None
    checked_at: str


class Receipt(Resource):
    """A receipt; `payload` is the proof itself."""

    format: str
    summary: str
    issued_at: str
    issuer: str
    wire: dict[str, Any] | None = None

    @property
    def payload(self) -> dict[str, Any]:
        """The receipt that can be checked offline."""
        found = (self.wire or {}).get("payload")
        return found if isinstance(found, dict) else {}
