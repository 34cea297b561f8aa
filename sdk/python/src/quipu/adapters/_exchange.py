"""A call of a model's endpoint as values: the question and the answer as they are recorded, the answer as HTTP again.

A whole answer is `{"status", "body"}`, or `{"status", "json"}` where its JSON has a name twice; a stream is `{"status",
"events"}` and, where it broke, by what: `broken`; what is no JSON is `{"status", "content_type", "base64"}`."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._exact import as_question
from .._recording import digest_of
from . import _spoken

# What else of an answer a library looks at.
_KEPT_HEADERS = ("request-id", "x-request-id", "x-should-retry")
_FAILED = 400


@dataclass(frozen=True)
class Question:
    """What is asked. The host is no part of it: a recording may be replayed anywhere."""

    method: str
    path: str
    body: Any

    @classmethod
    def of(cls, method: str, path: str, kind: str, content: bytes) -> Question:
        """The question in a request."""
        body = _json(content)
        # Other bodies, such as uploads, have boundaries that are drawn anew each time.
        return cls(method, path, kind.partition(";")[0] if content and body is None else body)

    @property
    def value(self) -> dict[str, Any]:
        """As it is recorded."""
        return {"method": self.method, "path": self.path, "body": self.body}


@dataclass(frozen=True)
class Wire:
    """An answer as HTTP."""

    status: int
    headers: dict[str, str]
    content: bytes
    broken: Any = None


def is_stream(headers: Mapping[str, str]) -> bool:
    """Whether an answer comes event by event."""
    return headers.get("content-type", "").startswith("text/event-stream")


def answer_value(status: int, headers: Mapping[str, str], content: bytes) -> dict[str, Any]:
    """The answer as it is recorded."""
    value: dict[str, Any] = {"status": status}
    kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
    if kept:
        value["headers"] = kept
    body, once = _json_once(content)
    if not once:
        # JSON with a name twice is read in more than one way: it is kept as it came.
        value["json"] = content.decode()
    elif is_stream(headers):
        # Who stops listening may have heard half a character.
        value["events"] = list(_events(content.decode(errors="replace")))
    elif body is not None:
        value["body"] = body
    else:
        value["content_type"] = headers.get("content-type", "application/octet-stream")
        value["base64"] = base64.b64encode(content).decode()
    return value


def answer_wire(value: Any, question: Question) -> Wire:
    """The answer as HTTP. A bare text, as an override may be, is said in the endpoint's own words."""
    if isinstance(value, str):
        value = _said(value, question)
    if not isinstance(value, dict) or not {"events", "body", "json", "base64"} & set(value):
        raise ValueError(f"an answer to {question.path} has `events` or a `body`, or is a text: {value!r:.80}")
    status = int(value.get("status", 200))
    headers = dict(value.get("headers", {}))
    if status >= _FAILED:
        # A library that tries again need not wait for what is known already.
        headers["retry-after-ms"] = "1"
    if "events" in value:
        content = b"".join(event_bytes(event) for event in value["events"])
        return Wire(status, {**headers, "content-type": "text/event-stream"}, content, value.get("broken"))
    if "body" in value:
        return Wire(status, {**headers, "content-type": "application/json"}, json.dumps(value["body"]).encode())
    if "json" in value:
        return Wire(status, {**headers, "content-type": "application/json"}, str(value["json"]).encode())
    kind = value.get("content_type", "application/octet-stream")
    return Wire(status, {**headers, "content-type": kind}, base64.b64decode(value["base64"]))


def event_bytes(event: Mapping[str, Any]) -> bytes:
    """One event of a stream."""
    data = event["data"] if isinstance(event["data"], str) else json.dumps(event["data"])
    named = f"event: {event['event']}\n" if "event" in event else ""
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"{named}{lines}\n".encode()


def _said(text: str, question: Question) -> dict[str, Any]:
    endpoint = _spoken.endpoint_of(question.path)
    if endpoint is None:
        raise ValueError(f"{question.path} has no text for an answer; override it with status and body")
    asked = question.body if isinstance(question.body, dict) else {}
    model = str(asked.get("model", "replayed"))
    name = (digest_of(as_question(question.value)) or "")[:16]
    if asked.get("stream"):
        return {"events": _spoken.streamed(endpoint, [text], model, name)}
    return {"body": _spoken.whole(endpoint, text, model, name)}


def _events(text: str) -> Iterator[dict[str, Any]]:
    # Not `splitlines`: it also knows ends of lines that may stand within JSON.
    *blocks, _ = text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")
    # What no empty line has ended is half an event, and nobody was told of it.
    for block in blocks:
        fields = [line.partition(":") for line in block.split("\n")]
        data = "\n".join(rest.removeprefix(" ") for name, _, rest in fields if name == "data")
        named = [rest.removeprefix(" ") for name, _, rest in fields if name == "event"]
        if data:
            said, once = _json_once(data.encode())
            yield {**({"event": named[-1]} if named else {}), "data": said if once and said is not None else data}


def _json(content: bytes) -> Any:
    return _json_once(content)[0]


def _json_once(content: bytes) -> tuple[Any, bool]:
    """What the content says, if it is JSON; and whether it says it once: no object has a name twice."""
    once = True

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal once
        read = dict(pairs)
        once = once and len(read) == len(pairs)
        return read

    try:
        return json.loads(content, object_pairs_hook=members), once
    except ValueError:
        return None, True
