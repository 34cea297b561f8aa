"""Requests as values, and answers read from bytes. Nothing here waits for anything."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from .errors import BadAnswer, InvalidRequest, QuipuError, from_body

HARN_VERSION = "agents-protocol-2026-04-25"
AKASHIK_VERSION = "0.1.0"

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Request:
    """One request. It has its id from the beginning, so that it can be sent again as it is."""

    method: str
    path: str
    content: bytes | None = None
    headers: dict[str, bytes] = field(default_factory=dict)
    operation: str | None = None
    wanted: str = "application/json"


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    content: bytes
    retry_after: float | None = None


def new_id() -> str:
    """An id for a message, drawn once for all its repetitions."""
    return f"msg-{uuid4().hex}"


def segment(text: str) -> str:
    """A text as one part of a path."""
    return quote(text, safe="")


def encode(value: Any) -> bytes:
    """The value as JSON. Pydantic models, dataclasses, dates and enums are understood."""
    try:
        text = json.dumps(value, default=to_jsonable_python, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError, RecursionError, PydanticSerializationError) as error:
        raise InvalidRequest(f"cannot be written as JSON: {error}", code="INVALID_PAYLOAD") from error


def present(**members: Any) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def akashik(
    operation: str, payload: dict[str, Any], agent: str, session: str | None, message_id: str | None = None
) -> Request:
    """An operation of Akashik in its envelope, which holds names that no header could."""
    envelope = {
        "protocol": "akashik",
        "version": AKASHIK_VERSION,
        "id": message_id or new_id(),
        "operation": operation,
        "agent_id": agent,
        "session_id": session,
        "epoch": 0,
        "payload": payload,
    }
    return Request("POST", f"/v1/{operation.lower()}", encode(envelope), operation=operation)


def speaking(agent: str | None, session: str | None = None) -> dict[str, bytes]:
    """Who speaks, in headers."""
    named = present(**{"Akashik-Agent": agent, "Akashik-Session": session})
    for name, value in named.items():
        if any(char < " " or char == "\x7f" for char in value):
            raise InvalidRequest(f"{name}: {value!r} has control characters", code="INVALID_PAYLOAD")
        if value != value.strip(" "):
            raise InvalidRequest(f"{name}: {value!r} has spaces at its ends", code="INVALID_PAYLOAD")
    return {name: value.encode() for name, value in named.items()}


def bare(
    path: str,
    payload: dict[str, Any],
    agent: str,
    session: str | None,
    operation: str,
    *,
    message_id: str | None = None,
) -> Request:
    """One of our own operations, which have no envelope."""
    headers = {**speaking(agent, session), "Akashik-Message-Id": (message_id or new_id()).encode()}
    return Request("POST", path, encode(payload), headers, operation)


def read(path: str, agent: str | None = None, session: str | None = None) -> Request:
    """A question that changes nothing."""
    return Request("GET", path, headers=speaking(agent, session))


def stable_id(*parts: str) -> str:
    """An id that is the same wherever it is made of the same."""
    return f"quipu-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]}"


def harn(method: str, path: str, body: Any = None, *, agent: str | None = None, key: str | None = None) -> Request:
    """A request of the Harn Agents Protocol. A write has an idempotency key."""
    headers = {**speaking(agent), "Harn-Agents-Protocol-Version": HARN_VERSION.encode()}
    if method != "GET":
        headers["Idempotency-Key"] = (key or new_id()).encode()
    operation = f"{method} {path}"
    return Request(method, path, None if body is None else encode(body), headers, operation)


def read_error(reply: Reply, operation: str | None) -> QuipuError:
    """The exception for an answer that is no success."""
    try:
        body = json.loads(reply.content)
    except ValueError:
        body = None
    if isinstance(body, dict) and ("code" in body or "error" in body):
        return from_body(body, reply.status, operation)
    return _bad(reply, operation, "no error object")


def read_model(reply: Reply, model: type[Model], operation: str | None) -> Model:
    """The answer as a model."""
    try:
        return model.model_validate_json(reply.content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in problem["loc"])
        raise _bad(reply, operation, f"{where or 'body'}: {problem['msg']}") from error


def read_json(reply: Reply, operation: str | None) -> Any:
    """The answer as any JSON."""
    try:
        return json.loads(reply.content)
    except ValueError as error:
        raise _bad(reply, operation, str(error)) from error


def _bad(reply: Reply, operation: str | None, why: str) -> BadAnswer:
    beginning = reply.content[:80].decode(errors="replace")
    return BadAnswer(
        f"the answer (HTTP {reply.status}) is not Quipu's: {why}; it begins with {beginning!r}",
        code="BAD_ANSWER",
        operation=operation,
        status=reply.status,
        suggested_action="see that the address is that of a Quipu server",
    )
