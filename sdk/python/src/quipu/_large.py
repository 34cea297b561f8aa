"""Answers that are larger than a request may be: kept in Artifacts, and read from there."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ._exact import MARK
from ._link import Link
from ._plans import Patience, Plan, ask, send
from ._wire import Request, encode, harn, segment
from .errors import BadAnswer, ConnectionFailed, QuipuError
from .models import Artifact

# A request has at most 4 MiB, of which something is left for what stands beside the answer.
LARGEST = 4 * 1024 * 1024 - 16 * 1024
# What every server takes as the content of an Artifact, unless it was told to take less.
_PIECE = 8 * 1024 * 1024
_SMALLEST_PIECE = 256 * 1024
_TOO_LARGE = 413


def kept_apart(link: Link, value: Any, task_id: str, visibility: str | None, agent: str | None) -> Plan[dict[str, Any]]:
    """What is recorded instead of a value that was put into an Artifact, or into several."""
    content = encode(value)
    first = yield from _register(link, task_id, visibility, agent)
    if (yield from _put(link, first, content, agent, last=False)):
        return {"artifact_id": first}
    size = _PIECE
    while not (yield from _put(link, first, content[:size], agent, last=size <= _SMALLEST_PIECE)):
        size //= 2
    pieces = [first]
    for start in range(size, len(content), size):
        pieces.append((yield from _register(link, task_id, visibility, agent)))
        yield from _put(link, pieces[-1], content[start : start + size], agent, last=True)
    digest = hashlib.sha256(content).hexdigest()
    return {"value": {MARK: "pieces", "artifacts": pieces, "sha256": digest}}


def read_again(link: Link, value: Any, artifact_id: str | None, agent: str | None) -> Plan[Any]:
    """The value that was recorded, from wherever it is."""
    if artifact_id is not None:
        content = yield from _content(link, artifact_id, agent)
        return _json(content, artifact_id)
    if not isinstance(value, dict) or value.get(MARK) != "pieces":
        return value
    pieces: list[bytes] = []
    for piece in value["artifacts"]:
        content = yield from _content(link, str(piece), agent)
        pieces += [content]
    whole = b"".join(pieces)
    if hashlib.sha256(whole).hexdigest() != value.get("sha256"):
        raise BadAnswer("the pieces of a recorded answer are not those that were recorded", code="BAD_ANSWER")
    return _json(whole, "pieces")


def _json(content: bytes, of: str) -> Any:
    try:
        return json.loads(content)
    except ValueError as error:
        raise BadAnswer(f"the content of {of} is no JSON: {error}", code="BAD_ANSWER") from error


def _content(link: Link, artifact_id: str, agent: str | None) -> Plan[bytes]:
    request = harn("GET", f"/v1/artifacts/{segment(artifact_id)}/content", agent=agent)
    return (yield from link.send(request)).content


def _register(link: Link, task_id: str, visibility: str | None, agent: str | None) -> Plan[str]:
    # What is for nobody could not be read again.
    shown = "public" if visibility == "public" else "internal"
    body = {"kind": "dataset", "mime_type": "application/json", "visibility": shown, "task_id": task_id}
    return (yield from ask(harn("POST", "/v1/artifacts", body, agent=agent), Artifact, link.patience)).id


def _put(link: Link, artifact_id: str, content: bytes, agent: str | None, *, last: bool) -> Plan[bool]:
    """Whether the server took the content. Unless this is the last resort, it may refuse it as too large."""
    plain = harn("PUT", f"/v1/artifacts/{segment(artifact_id)}/content", agent=agent)
    request = Request(plain.method, plain.path, content, plain.headers, plain.operation)
    try:
        # Who refuses to read so much may just hang up: that is tried once.
        yield from send(request, link.patience if last or len(content) <= _PIECE else Patience(0))
    except ConnectionFailed:
        if last or len(content) <= _PIECE:
            raise
        return False
    except QuipuError as refused:
        if last or refused.status != _TOO_LARGE:
            raise
        return False
    return True
