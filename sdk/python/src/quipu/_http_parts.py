"""Requests and responses of HTTP clients that exceptions carry, as values and made again. A response is known by what
it has, whichever library it is of. Headers that may hold a secret are not kept, nor what follows `?` in an address."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from ._exact import exact, restored

RESPONSE = "$response"
REQUEST = "$request"
HEADERS = "$headers"
_SECRET = re.compile(
    r"auth|cookie|token|secret|session|signature|password|credential|api[-_]?key|(^|-)key($|-)", re.IGNORECASE
)
_LIBRARIES = frozenset({"httpx", "httpx2", "requests"})
# Their content is decoded already, and as long as it is.
_OF_THE_WAY = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})


def described(item: Any) -> dict[str, Any] | None:
    """A response, a request or headers as a value; None for anything else."""
    headers = getattr(item, "headers", None)
    if isinstance(getattr(item, "status_code", None), int) and isinstance(headers, Mapping):
        return {RESPONSE: _response(item, headers)}
    if isinstance(getattr(item, "method", None), str) and getattr(item, "url", None) and isinstance(headers, Mapping):
        return {REQUEST: _request(item)}
    if isinstance(item, Mapping) and not isinstance(item, dict) and _is_of_http(item):
        return {HEADERS: {"library": _library(item), "fields": _fields(item)}}
    return None


def made(item: Any) -> Any:
    """What `described` was given, of its library where that is loaded; None for a value that is none of these."""
    if not isinstance(item, dict) or len(item) != 1:
        return None
    ((kind, said),) = item.items()
    if kind not in {RESPONSE, REQUEST, HEADERS} or not isinstance(said, Mapping):
        return None
    library = str(said.get("library"))
    module: Any = sys.modules.get(library) if library in _LIBRARIES else None
    if kind == HEADERS:
        fields = _pairs(said.get("fields"))
        return module.Headers(fields) if hasattr(module, "Headers") else dict(fields)
    return _made_request(said, module) if kind == REQUEST else _made_response(said, module)


def _response(item: Any, headers: Mapping[str, str]) -> dict[str, Any]:
    said: dict[str, Any] = {"library": _library(item), "status": item.status_code, "headers": _fields(headers)}
    try:
        content = bytes(item.content)
    except Exception:  # noqa: BLE001 - a stream that nobody read
        content = b""
    try:
        # So that secrets are found in it.
        said["text"] = content.decode()
    except UnicodeDecodeError:
        said["base64"] = base64.b64encode(content).decode()
    request = _part(item, "request")
    if request is not None and hasattr(request, "method"):
        said["request"] = _request(request)
    reason = _part(item, "reason")
    if isinstance(reason, str):
        said["reason"] = exact(reason)
    return said


def _part(item: Any, name: str) -> Any:
    try:
        return getattr(item, name, None)
    except Exception:  # noqa: BLE001 - a property that refuses, such as httpx's `request` where there is none
        return None


def _request(item: Any) -> dict[str, Any]:
    return {"library": _library(item), "method": str(item.method), "url": _address(str(item.url))}


def _address(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _fields(headers: Mapping[str, str]) -> list[list[str]]:
    several = getattr(headers, "multi_items", None)
    pairs: Iterable[tuple[Any, Any]] = several() if callable(several) else headers.items()
    fields = [[str(name), str(value)] for name, value in pairs]
    return [field for field in fields if not _SECRET.search(field[0])]


def _pairs(fields: Any) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in fields] if isinstance(fields, list) else []


def _library(item: Any) -> str:
    return type(item).__module__.partition(".")[0]


def _is_of_http(item: Mapping[Any, Any]) -> bool:
    return _library(item) in {*_LIBRARIES, "multidict"}


def _made_request(said: Mapping[str, Any], module: Any) -> Any:
    method, url = str(said.get("method", "GET")), str(said.get("url", ""))
    if hasattr(module, "AsyncClient"):
        return module.Request(method, url)
    if module is not None:
        return module.Request(method, url).prepare()
    return SimpleNamespace(method=method, url=url, headers={})


def _made_response(said: Mapping[str, Any], module: Any) -> Any:
    status, fields = int(said.get("status", 0)), _pairs(said.get("headers"))
    content = base64.b64decode(said["base64"]) if "base64" in said else str(said.get("text", "")).encode()
    request = said.get("request")
    asked = _made_request(request, module) if isinstance(request, Mapping) else None
    if hasattr(module, "AsyncClient"):
        plain = [(name, value) for name, value in fields if name.lower() not in _OF_THE_WAY]
        return module.Response(status, headers=plain, content=content, request=asked)
    response: Any = SimpleNamespace() if module is None else module.Response()
    response.status_code, response.reason, response.request = status, restored(said.get("reason")), asked
    response.headers = dict(fields) if module is None else type(response.headers)(fields)
    if module is None:
        response.content, response.text = content, content.decode(errors="replace")
    else:
        response._content, response.url = content, getattr(asked, "url", None)  # noqa: SLF001 - it has no other way
    return response
