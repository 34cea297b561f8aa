"""Values as JSON that comes back as it was. The server keeps canonical JSON: integers within ±(2^53 - 1), no NaN, no
bytes, no 3.0 beside 3. What has no place there is an object with the member `$quipu`, which says how to read it.

| value | is written as |
|---|---|
| an integer beyond that | `{"$quipu": "int", "text": "…"}` |
| a whole or infinite float, NaN | `{"$quipu": "float", "text": "…"}` |
| bytes | `{"$quipu": "bytes", "base64": "…"}` |
| a text with half a character | `{"$quipu": "str", "json": "…"}` |
| an object with a name twice, once all are texts, or with half a character | `{"$quipu": "map", "items": […]}` |
| what is nested deeper than the server keeps | `{"$quipu": "deep", "json": "…"}` |
| an object that has such a member itself | `{"$quipu": "object", "members": {…}}` |"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from .errors import InvalidRequest

MARK = "$quipu"
FAILED = "$error"
# What every reader of JSON has exactly.
LARGEST_INT = 2**53 - 1
# The server keeps 64 levels, and answers stand some way down in what it keeps. Whatever is below is written as a text.
_DEEPEST = 40
_FAR_ABOVE = -1_000_000
# Python refuses to write longer integers in decimal.
_LONGEST_DECIMAL_BITS = 10_000
_NESTING = (list, dict)
_NAMES = {True: "true", False: "false", None: "null"}


def exact(value: Any, *, escape: bool = True) -> Any:
    """The value as JSON that `restored` makes the same again: plain types, tuples as lists, models as objects.

    Without `escape` a member `$quipu` or `$error` is taken as meant, as in what somebody substitutes."""
    return _written(value, _Writer(folds=False, escapes=escape))


def as_question(value: Any) -> Any:
    """The value as JSON for a digest alone: 3.0 is 3, as canonical JSON has it, and bytes are a text if they can be."""
    return _written(value, _Writer(folds=True, escapes=False, texts=True))


def as_output(value: Any) -> Any:
    """The value as JSON that others read too: 3.0 is 3, and all else as `exact` has it."""
    return _written(value, _Writer(folds=True, escapes=False))


def restored(value: Any) -> Any:
    """What `exact` was given, in plain types."""
    if isinstance(value, list):
        return [restored(item) if type(item) in _NESTING else item for item in value]
    if not isinstance(value, dict):
        return value
    read = _READERS.get(value[MARK]) if isinstance(value.get(MARK), str) else None
    if read is None:
        return {name: restored(item) for name, item in value.items()}
    try:
        return read(value)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidRequest(f"a recorded value cannot be read: {value!r:.80}", code="INVALID_PAYLOAD") from error


def _written(value: Any, writer: _Writer) -> Any:
    try:
        return writer.write(value, 0)
    except (TypeError, ValueError, RecursionError, PydanticSerializationError) as error:
        raise InvalidRequest(f"cannot be written as JSON: {error}", code="INVALID_PAYLOAD") from error


class _Writer:
    def __init__(self, *, folds: bool, escapes: bool, texts: bool = False) -> None:
        self._folds = folds
        self._escapes = escapes
        self._texts = texts

    def write(self, value: Any, depth: int) -> Any:  # noqa: PLR0911 - one for each kind of value
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, int):
            number = int(value)
            return number if abs(number) <= LARGEST_INT else {MARK: "int", "text": _digits(number)}
        if isinstance(value, float):
            return self._float(float(value))
        if isinstance(value, Mapping | list | tuple):
            if depth >= _DEEPEST:
                return {MARK: "deep", "json": json.dumps(self.write(value, _FAR_ABOVE))}
            if isinstance(value, Mapping):
                return self._object(value, depth)
            # Most parts of long lists need nothing: no call is made for each.
            below, most = depth + 1, LARGEST_INT
            return [it if type(it) is int and -most <= it <= most else self.write(it, below) for it in value]
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(bytes(value))
        return self.write(_plain(value), depth)

    def _text(self, text: str) -> Any:
        try:
            if not text.isascii():
                text.encode()
        except UnicodeEncodeError:
            return {MARK: "str", "json": json.dumps(text)}
        return text

    def _float(self, number: float) -> Any:
        if number - number != 0:  # infinite, or no number
            return {MARK: "float", "text": repr(number)}
        if not number.is_integer():
            return number
        if not self._folds:
            return {MARK: "float", "text": repr(number)}
        return int(number) if abs(number) <= LARGEST_INT else number

    def _bytes(self, content: bytes) -> Any:
        if self._texts:
            try:
                return content.decode()
            except UnicodeDecodeError:
                pass
        return {MARK: "bytes", "base64": base64.b64encode(content).decode()}

    def _object(self, value: Mapping[Any, Any], depth: int) -> Any:
        names = {_name(key): None for key in value}
        if len(names) < len(value) or not _can_be_written("".join(names)):
            items = [[self.write(key, depth + 3), self.write(item, depth + 3)] for key, item in value.items()]
            return {MARK: "map", "items": items}
        escapes = self._escapes and (MARK in names or FAILED in names)
        below = depth + 2 if escapes else depth + 1
        # The server keeps members in this order. Who reads them one by one must find it live, too.
        members = {_name(key): self.write(item, below) for key, item in _in_order(value)}
        return {MARK: "object", "members": members} if escapes else members


def _in_order(value: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    return sorted(value.items(), key=lambda member: _name(member[0]).encode("utf-16-be"))


def _can_be_written(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _name(key: Any) -> str:
    # As `json` writes names.
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or key is True or key is False:
        return _NAMES[key]
    if isinstance(key, int):
        return int.__repr__(key)
    if isinstance(key, float):
        return float.__repr__(key)
    raise TypeError(f"names are texts, not {type(key).__name__}")


def _digits(number: int) -> str:
    return str(number) if number.bit_length() <= _LONGEST_DECIMAL_BITS else hex(number)


def _plain(value: Any) -> Any:
    """Anything else as pydantic has it in JSON."""
    try:
        return to_jsonable_python(value, inf_nan_mode="constants")
    except (UnicodeDecodeError, PydanticSerializationError):
        if isinstance(value, BaseModel):
            # It has bytes that are no text.
            return value.model_dump(by_alias=True)
        raise


def _object_of(marked: dict[str, Any]) -> Any:
    return {name: restored(item) for name, item in marked["members"].items()}


def _map_of(marked: dict[str, Any]) -> Any:
    return {restored(key): restored(item) for key, item in marked["items"]}


_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "int": lambda marked: int(marked["text"], 0),
    "float": lambda marked: float(marked["text"]),
    "bytes": lambda marked: base64.b64decode(marked["base64"], validate=True),
    "str": lambda marked: json.loads(marked["json"]),
    "deep": lambda marked: restored(json.loads(marked["json"])),
    "object": _object_of,
    "map": _map_of,
}
