"""Calls of tools as answers of a run: recorded with the model that asked for them, and in a replay not made."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .._exact import as_question
from .._plans import Plan
from .._run_core import RunCore
from ..run import AsyncRun, Run, current_run


def run_of(run: Run | AsyncRun | None) -> Run | AsyncRun:
    """The run that was given, or the one around."""
    found = run or current_run()
    if found is None:
        raise ValueError("there is no run: give one, or record within `with field.task(...)`")
    return found


def tool_result(
    core: RunCore,
    name: str,
    arguments: Any,
    call: Callable[[], Any],
    *,
    encode: Callable[[Any], Any],
    decode: Callable[[Any], Any],
) -> Plan[Any]:
    """What a tool returns, under `tool:<name>:<n>`."""
    question = as_question({"tool": name, "arguments": arguments})
    key, found = yield from core.key_of(f"tool:{name}", question)
    return (yield from core.answered(key, found, "tool_result", call, question, encode=encode, decode=decode))


def arguments_of(text: str) -> Any:
    """What a model wrote for a tool, as JSON where it is some."""
    try:
        return json.loads(text)
    except ValueError:
        return text
