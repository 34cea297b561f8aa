"""Calls that ended with an exception: how one is recorded, and raised again as what it was.

Kept are its type, its arguments, those of its attributes that JSON holds, its cause, and the answer of an HTTP server
that it carries. Secrets of the run are cut out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from . import _http_parts
from ._exact import FAILED, exact, restored
from .errors import InvalidRequest, RecordedError

# What the server takes for the message of a failure, in bytes.
LONGEST_MESSAGE = 65_536
# How far causes and exceptions within exceptions are followed.
_DEEPEST = 4
_NESTED = "$exception"


def failure_value(error: Exception, secrets: Iterable[Any] = ()) -> dict[str, Any]:
    """How a call that raised is recorded."""
    hidden = _hidden(secrets)
    said = _described(error, 0)
    value: dict[str, Any] = _without(said, hidden)
    value["message"] = message_of(error, secrets)
    return {FAILED: value}


def message_of(error: BaseException, secrets: Iterable[Any] = ()) -> str:
    """What an error says, as it may be kept: without secrets, as text that can be written, and not too long."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - an exception that cannot say what it is still is one
        said = type(error).__name__
    said = _cut(said, _hidden(secrets))
    return said.encode(errors="replace")[:LONGEST_MESSAGE].decode(errors="ignore")


def has_failed(value: Any) -> bool:
    """Whether the recorded answer is an error."""
    return isinstance(value, dict) and set(value) == {FAILED} and isinstance(value[FAILED], dict)


def raise_recorded(value: Any) -> None:
    """Raises where the recorded answer is an error."""
    if has_failed(value):
        raise recorded_error(value[FAILED])


def recorded_error(said: Mapping[str, Any]) -> Exception:
    """The exception that was recorded: of the type that was raised, where that is loaded, else a `RecordedError`."""
    code, message = str(said.get("code", "error")), str(said.get("message", ""))
    original = loaded(code, Exception)
    error = _made(original, said, message) if original is not None else None
    if error is None:
        error = RecordedError(code, message)
        error.attributes = {name: _read(item) for name, item in _members(said).items()}
    cause = said.get("cause")
    if isinstance(cause, Mapping):
        error.__cause__ = recorded_error(cause)
    return error


def loaded(name: str, kind: type) -> Any:
    """The class of this full name. Nothing is imported for what a recording says; only what the program has loaded is
    looked at."""
    module, _, path = name.rpartition(".")
    while module and module not in sys.modules:  # a class within a class
        module, _, outer = module.rpartition(".")
        path = f"{outer}.{path}"
    found: Any = sys.modules.get(module)
    for step in path.split("."):
        found = getattr(found, step, None)
    return found if isinstance(found, type) and issubclass(found, kind) else None


def full_name(kind: type) -> str:
    """The name by which `loaded` finds it."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _described(error: BaseException, depth: int) -> dict[str, Any]:
    said: dict[str, Any] = {"code": full_name(type(error)), "message": message_of(error)}
    said["args"] = [_kept(argument, depth) for argument in _arguments(error)]
    attributes: dict[str, Any] = {}
    for name, item in vars(error).items():
        attributes[name] = _kept(item, depth)
    if attributes:
        said["attributes"] = attributes
    if error.__cause__ is not None and depth < _DEEPEST:
        said["cause"] = _described(error.__cause__, depth + 1)
    return said


def _own(kind: type[BaseException]) -> Any:
    """The type of Python itself behind this one, which keeps its parts where only its own `__init__` puts them."""
    return next(base for base in kind.__mro__ if base.__module__ == "builtins")


def _arguments(error: BaseException) -> tuple[Any, ...]:
    # An OSError has its file here, and not in `args`.
    return tuple(_own(type(error)).__reduce__(error)[1])


def _kept(item: Any, depth: int) -> Any:
    """An argument or attribute as JSON; None for what JSON does not hold."""
    if isinstance(item, BaseException):
        return {_NESTED: _described(item, depth + 1)} if depth < _DEEPEST else None
    found = _http_parts.described(item)
    if found is None and isinstance(item, list | tuple) and any(isinstance(it, BaseException) for it in item):
        return [_kept(it, depth) for it in item]
    try:
        return exact(item) if found is None else found
    except InvalidRequest:
        return None


def _read(item: Any) -> Any:
    """What was kept; None for what no recorder writes."""
    try:
        return _read_well(item)
    except Exception:  # noqa: BLE001 - who substitutes an answer may write anything
        return None


def _read_well(item: Any) -> Any:
    if isinstance(item, dict) and isinstance(item.get(_NESTED), Mapping):
        return recorded_error(item[_NESTED])
    if isinstance(item, list):
        return [_read(it) for it in item]
    found = _http_parts.made(item)
    return restored(item) if found is None else found


def _members(said: Mapping[str, Any]) -> Mapping[str, Any]:
    found = said.get("attributes")
    return found if isinstance(found, Mapping) else {}


def _made(original: type[Exception], said: Mapping[str, Any], message: str) -> Exception | None:
    """An exception of this type, without its `__init__`, which may do anything and need what is gone."""
    given = said.get("args")
    args = tuple(_read(item) for item in given) if isinstance(given, list) else (message,)
    try:
        error: Any = original.__new__(original, *args)
        _own(original).__init__(error, *args)
    except Exception:  # noqa: BLE001 - a type that cannot be made of these arguments
        return None
    error.__dict__.update({name: _read(item) for name, item in _members(said).items()})
    return cast("Exception", error)


def _hidden(secrets: Iterable[Any]) -> list[str]:
    # The longest first: one secret may be a part of another.
    return sorted({text for secret in secrets for text in _texts(secret)}, key=len, reverse=True)


def _texts(secret: Any) -> Iterator[str]:
    if isinstance(secret, str):
        if secret:
            yield secret
    elif isinstance(secret, Mapping):
        yield from _texts(list(secret.values()))
    elif isinstance(secret, list | tuple):
        for part in secret:
            yield from _texts(part)


def _cut(text: str, hidden: list[str]) -> str:
    for secret in hidden:
        text = text.replace(secret, "[secret]")
    return text


def _without(value: Any, hidden: list[str]) -> Any:
    if isinstance(value, str):
        return _cut(value, hidden)
    if isinstance(value, dict):
        return {_cut(name, hidden): _without(item, hidden) for name, item in value.items()}
    if isinstance(value, list):
        return [_without(item, hidden) for item in value]
    return value
