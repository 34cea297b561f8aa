"""One function for everything: a new run, one that goes on, a replay. What it is, the environment says."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable
from typing import Any, overload

from .field import AsyncField, Field
from .recorded import AsyncRecordedFunction, RecordedFunction
from .run import AsyncRun, Run

TASK = "QUIPU_TASK"


@overload
def run_from_environment(function: RecordedFunction[..., Any], *args: Any, **kwargs: Any) -> Run: ...
@overload
def run_from_environment(function: AsyncRecordedFunction[..., Any], *args: Any, **kwargs: Any) -> AsyncRun: ...
@overload
def run_from_environment(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> AsyncRun: ...
@overload
def run_from_environment(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Run: ...


def run_from_environment(function: Any, *args: Any, **kwargs: Any) -> Run | AsyncRun:
    """Works by `function(run, *args, **kwargs)` on the Task that `QUIPU_TASK` names: a new one, one that was left by a
    lost worker, or a replay, strict or not. Without that variable it makes a Task. `QUIPU_URL`, `QUIPU_KEY` and
    `QUIPU_FIELD` say where. A recorded function is given the arguments of the Task that is named."""
    task = os.environ.get(TASK) or None
    if isinstance(function, RecordedFunction):
        return function.run(*args, **kwargs) if task is None else function.resume(task)
    if isinstance(function, AsyncRecordedFunction):
        return asyncio.run(_recorded(function, task, args, kwargs))
    if inspect.iscoroutinefunction(function):
        return asyncio.run(_awaited(function, task, args, kwargs))
    with Field() as field:
        return field.run(lambda run: function(run, *args, **kwargs), _name(function), task=task)


async def _recorded(
    function: AsyncRecordedFunction[..., Any], task: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncRun:
    return await function.run(*args, **kwargs) if task is None else await function.resume(task)


async def _awaited(
    function: Callable[..., Awaitable[Any]], task: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncRun:
    async with AsyncField() as field:
        return await field.run(lambda run: function(run, *args, **kwargs), _name(function), task=task)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
