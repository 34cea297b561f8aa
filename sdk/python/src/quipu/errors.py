"""Everything that can go wrong, as exceptions with the server's code. One class for what is handled alike."""

from __future__ import annotations

from typing import Any


class QuipuError(Exception):
    """A request that was refused or did not come through. Decide by `code`; the text may change."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "CLIENT_ERROR",
        operation: str | None = None,
        recoverable: bool = False,
        suggested_action: str | None = None,
        status: int | None = None,
        param: str | None = None,
        details: dict[str, Any] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.operation = operation
        self.recoverable = recoverable
        self.suggested_action = suggested_action
        self.status = status
        self.param = param
        self.details = details or {}
        self.request_id = request_id

    def __str__(self) -> str:
        advice = f" ({self.suggested_action})" if self.suggested_action else ""
        return f"{self.code}: {self.message}{advice}"


class ConnectionFailed(QuipuError):
    """Nobody answered, however often it was tried. The message may have been carried out."""


class TimedOut(ConnectionFailed):
    """The server took longer than `timeout`. The message may have been carried out."""


class BadAnswer(QuipuError):
    """What answered does not speak the protocol."""


class InvalidRequest(QuipuError):
    """A part of the message is missing, malformed or too large; also what cannot be written as JSON."""


class Unauthenticated(QuipuError):
    """There is no valid key."""


class PermissionDenied(QuipuError):
    """The key or the agent may not do this, or a Persona's policy forbids it."""


class NotFound(QuipuError):
    """There is no such thing, or you may not know of it."""


class FieldNotFound(NotFound):
    """There is no Field of this name, and this key may not make one."""


class Conflicted(QuipuError):
    """It cannot be done in the state that things are in."""


class InvalidTransition(Conflicted):
    """Something cannot go from its state to the one that was asked for."""


class MergeFailed(Conflicted):
    """A conflict could not be settled by the chosen strategy."""


class AgentIdTaken(Conflicted):
    """An agent of this name takes part already."""


class AgentNotRegistered(PermissionDenied):
    """The sender does not take part in this Field."""


class MessageIdReused(Conflicted):
    """This message id was used before, for another message."""


class ReplayUnavailable(Conflicted):
    """A replay needs an answer that was never recorded or is gone. The replay Task has failed."""

    @property
    def first_unavailable(self) -> dict[str, Any]:
        """What was missing: `id`, `reason`, and where it stood."""
        found = self.details.get("first_unavailable")
        return found if isinstance(found, dict) else {}


class ReplayDrifted(Conflicted):
    """A strict replay did something else than its source. The replay Task has failed."""

    @property
    def first_drift(self) -> dict[str, Any]:
        """What was otherwise: `what` (`request`, `not_asked`, `output`), `key`, and where it stood."""
        found = self.details.get("first_drift")
        return found if isinstance(found, dict) else {}


class RateLimited(QuipuError):
    """More requests than the key or a quota allows."""


class Unavailable(QuipuError):
    """The server cannot do it now."""


class RecordedError(Exception):
    """An error that a recorded call ended with, told again by a replay or a resumed run, where its own type is not
    loaded. `code` is the full name of that type, `attributes` what was kept of it."""

    def __init__(self, code: str, message: str) -> None:
        Exception.__init__(self, message)
        self.code = code
        self.message = message
        self.attributes: dict[str, Any] = {}

    def __str__(self) -> str:
        return self.message


CLASSES: dict[str, type[QuipuError]] = {
    "AGENT_ID_TAKEN": AgentIdTaken,
    "AGENT_NOT_REGISTERED": AgentNotRegistered,
    "CONFLICT_NOT_FOUND": NotFound,
    "FIELD_NOT_FOUND": FieldNotFound,
    "FIELD_UNAVAILABLE": Unavailable,
    "INSUFFICIENT_AUTHORITY": PermissionDenied,
    "INVALID_CONFIDENCE": InvalidRequest,
    "INVALID_PAYLOAD": InvalidRequest,
    "INVALID_TRANSITION": InvalidTransition,
    "INVALID_TYPE": InvalidRequest,
    "MERGE_FAILED": MergeFailed,
    "MESSAGE_ID_REUSED": MessageIdReused,
    "MISSING_CONFIDENCE": InvalidRequest,
    "MISSING_INTENT": InvalidRequest,
    "OVERLOADED": Unavailable,
    "PAYLOAD_TOO_LARGE": InvalidRequest,
    "RATE_LIMITED": RateLimited,
    "UNAUTHENTICATED": Unauthenticated,
    "UNIT_NOT_FOUND": NotFound,
    "conflict": Conflicted,
    "idempotency_key_reused": MessageIdReused,
    "invalid_request": InvalidRequest,
    "invalid_state_transition": InvalidTransition,
    "payload_too_large": InvalidRequest,
    "permission_denied": PermissionDenied,
    "policy_violation": PermissionDenied,
    "rate_limited": RateLimited,
    "resource_locked": Conflicted,
    "resource_not_found": NotFound,
    "service_unavailable": Unavailable,
    "unauthenticated": Unauthenticated,
}


def from_body(body: dict[str, Any], status: int, operation: str | None) -> QuipuError:
    """The exception for an error object of either protocol."""
    harn = body.get("error")
    said: dict[str, Any] = harn if isinstance(harn, dict) else body
    code = str(said.get("code", "UNKNOWN"))
    details = said.get("details")
    details = details if isinstance(details, dict) else {}
    kind = CLASSES.get(code, QuipuError)
    if "first_unavailable" in details:
        kind = ReplayUnavailable
    elif "first_drift" in details:
        kind = ReplayDrifted
    return kind(
        str(said.get("message", "")),
        code=code,
        operation=said.get("operation") or operation,
        recoverable=bool(said.get("recoverable", status in {429, 503})),
        suggested_action=said.get("suggested_action"),
        status=status,
        param=said.get("param"),
        details=details,
        request_id=said.get("request_id"),
    )
