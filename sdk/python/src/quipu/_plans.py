"""Plans: what to do, as generators of effects. Written once; `_shells` carries them out, blocking or awaiting.

A plan yields an effect and is sent its result, or has its failure thrown into it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from ._wire import Model, Reply, Request, read_error, read_json, read_model
from .errors import ConnectionFailed, TimedOut

T = TypeVar("T")


@dataclass(frozen=True)
class Send:
    """Send it once; the result is the Reply."""

    request: Request


@dataclass(frozen=True)
class Sleep:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Live:
    """Call a function of the user; the result is what it returns. `key` names the call to whom it asks."""

    call: Callable[[], Any]
    key: str | None = None


# The key of the call that is being made.
calling: ContextVar[str | None] = ContextVar("quipu_calling", default=None)


def idempotency_key() -> str | None:
    """A key for the call that a run is making now: the same one if a run that goes on has to make it again, because the
    process ended after it was answered and before that was recorded. Who answers can see by it that it was paid for."""
    return calling.get()


Effect = Send | Sleep | Live
Plan = Generator[Effect, Any, T]


class TransportFailed(Exception):
    """One attempt brought no answer."""

    def __init__(self, message: str, *, timed_out: bool) -> None:
        super().__init__(message)
        self.timed_out = timed_out


FIRST_DELAY_S = 0.05
LONGEST_DELAY_S = 2.0
# What says that the same request may come through a little later.
PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Patience:
    """How long a request is tried again."""

    retry_for: float = 30.0

    def delay(self, attempt: int, asked: float | None) -> float:
        """The pause after an attempt, from 0: what the server asked for, else growing and jittered."""
        if asked is not None:
            return asked
        # Who waits for a server all night makes many attempts.
        grown = min(FIRST_DELAY_S * 2.0 ** min(attempt, 16), LONGEST_DELAY_S)
        return grown * (0.5 + random.random() / 2)  # noqa: S311 - to spread clients, not to hide anything


def send(request: Request, patience: Patience) -> Plan[Reply]:
    """Sends until there is an answer that stands. Every repetition is the very same message."""
    end = time.monotonic() + patience.retry_for
    attempt = 0
    while True:
        failed: TransportFailed | None = None
        reply: Reply | None = None
        try:
            reply = yield Send(request)
        except TransportFailed as error:
            failed = error
        if reply is not None and reply.status not in PASSING:
            break
        pause = patience.delay(attempt, reply.retry_after if reply else None)
        if time.monotonic() + pause >= end:
            break
        yield Sleep(pause)
        attempt += 1
    if reply is None:
        kind = TimedOut if failed is not None and failed.timed_out else ConnectionFailed
        raise kind(
            f"no answer after {attempt + 1} attempts: {failed}",
            code="TIMED_OUT" if kind is TimedOut else "CONNECTION_FAILED",
            operation=request.operation,
            recoverable=True,
            suggested_action="see that the server runs and can be reached; the same message may be sent again",
        ) from failed
    if not 200 <= reply.status < 300:  # noqa: PLR2004
        raise read_error(reply, request.operation)
    return reply


def ask(request: Request, model: type[Model], patience: Patience) -> Plan[Model]:
    """Sends, and reads the answer as a model."""
    reply = yield from send(request, patience)
    return read_model(reply, model, request.operation)


def ask_json(request: Request, patience: Patience) -> Plan[Any]:
    """Sends, and reads the answer as any JSON."""
    reply = yield from send(request, patience)
    return read_json(reply, request.operation)


class Page(BaseModel):
    """A page of a list of the Harn protocol."""

    data: list[Any]
    has_more: bool = False
    next_cursor: str | None = None
