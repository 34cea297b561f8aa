"""Shared memory and replayable runs for agents. The client of the Quipu server.

import quipu

field = quipu.Field("http://127.0.0.1:7070")
ana = field.agent("ana", role="researcher")
ana.record("The market grows by 23% a year.", purpose="Size the market",
           confidence=0.8, reasoning="Two trade reports agree")
print(field.agent("sam", role="strategist").attune("how fast does it grow").as_text())
"""

from . import errors, models, receipts
from ._answers import Override
from ._memory import memory
from ._plans import idempotency_key
from .agent import Agent, AsyncAgent
from .environment import run_from_environment
from .errors import (
    AgentIdTaken,
    AgentNotRegistered,
    BadAnswer,
    Conflicted,
    ConnectionFailed,
    FieldNotFound,
    InvalidRequest,
    InvalidTransition,
    MergeFailed,
    MessageIdReused,
    NotFound,
    PermissionDenied,
    QuipuError,
    RateLimited,
    RecordedError,
    ReplayDrifted,
    ReplayUnavailable,
    TimedOut,
    Unauthenticated,
    Unavailable,
)
from .field import AsyncField, Field, replaying
from .recorded import recorded
from .run import AsyncRun, Run, current_run
from .subscription import AsyncSubscription, Subscription

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentIdTaken",
    "AgentNotRegistered",
    "AsyncAgent",
    "AsyncField",
    "AsyncRun",
    "AsyncSubscription",
    "BadAnswer",
    "Conflicted",
    "ConnectionFailed",
    "Field",
    "FieldNotFound",
    "InvalidRequest",
    "InvalidTransition",
    "MergeFailed",
    "MessageIdReused",
    "NotFound",
    "Override",
    "PermissionDenied",
    "QuipuError",
    "RateLimited",
    "RecordedError",
    "ReplayDrifted",
    "ReplayUnavailable",
    "Run",
    "Subscription",
    "TimedOut",
    "Unauthenticated",
    "Unavailable",
    "current_run",
    "errors",
    "idempotency_key",
    "memory",
    "models",
    "receipts",
    "recorded",
    "replaying",
    "run_from_environment",
]
