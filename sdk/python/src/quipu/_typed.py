"""Arguments of recorded functions: models, dates and the like come back from JSON as what they were."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from types import GenericAlias
from typing import Any, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError

from ._exact import exact
from ._failures import full_name, loaded
from .errors import InvalidRequest

# Of `*rest` and `**more` the annotation is that of each.
_SEVERAL: dict[Any, Callable[[Any], tuple[Any, Any]]] = {
    inspect.Parameter.VAR_POSITIONAL: lambda kind: (tuple, (kind, ...)),
    inspect.Parameter.VAR_KEYWORD: lambda kind: (dict, (str, kind)),
}
_PLAIN = (str, int, float, bool, type(None), list, dict)


class Arguments:
    """What is known of a function's arguments: their annotations, and what was given live."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            hints = get_type_hints(self._function, include_extras=True)
            for name, parameter in inspect.signature(self._function).parameters.items():
                if name in hints and parameter.kind in _SEVERAL:
                    hints[name] = GenericAlias(*_SEVERAL[parameter.kind](hints[name]))
            return hints
        except Exception:  # noqa: BLE001 - a name that is known to checkers of types alone
            return {}

    def types_of(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The full names of the models among the arguments, whatever their annotations say."""
        kinds = {name: type(value) for name, value in given.items() if not isinstance(value, _PLAIN)}
        return {name: full_name(kind) for name, kind in kinds.items() if _is_model(kind)}

    def read(self, given: Mapping[str, Any], types: Any) -> dict[str, Any]:
        """The arguments as they were, from plain types."""
        known = types if isinstance(types, dict) else {}
        return {name: self._read(name, value, known.get(name)) for name, value in given.items()}

    def _read(self, name: str, value: Any, type_name: Any) -> Any:
        kind: Any = loaded(type_name, object) if isinstance(type_name, str) else None
        if not _is_model(kind):
            kind = self._hints.get(name)
        if kind is None or kind is Any:
            return value
        return _as(value, kind)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind))


def _as(value: Any, kind: Any) -> Any:
    """The value as its type has it; else the value itself, as where the type would make another value of it."""
    try:
        found = TypeAdapter(kind).validate_python(value)
        return found if isinstance(value, dict | list) or _says(found) == _says(value) else value
    except (ValidationError, PydanticUserError, InvalidRequest, TypeError, ValueError, NameError):
        return value


def _says(value: Any) -> str:
    # True is no 1 here.
    return repr(exact(value))
