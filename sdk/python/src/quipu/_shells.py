"""The two ways to carry out a plan: blocking, and awaiting. Nothing else in this package waits."""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import httpx

from ._plans import Live, Plan, Send, Sleep, TransportFailed, calling
from ._wire import Reply, Request
from .errors import ConnectionFailed

T = TypeVar("T")
P = ParamSpec("P")
Core_co = TypeVar("Core_co", covariant=True)


def _failure(error: Exception) -> TransportFailed:
    said = str(error) or type(error).__name__
    return TransportFailed(said, timed_out=isinstance(error, httpx.TimeoutException))


def _see_that_open(client: httpx.Client | httpx.AsyncClient) -> None:
    if client.is_closed:
        raise ConnectionFailed("the Field was closed", code="CLOSED", suggested_action="make a new Field")


def reply_of(response: httpx.Response) -> Reply:
    """The answer as a value."""
    asked = response.headers.get("Retry-After", "")
    return Reply(response.status_code, response.content, float(asked) if asked.isdigit() else None)


def build(
    client: httpx.Client | httpx.AsyncClient, request: Request, timeout: httpx.Timeout | None = None
) -> httpx.Request:
    """The request as httpx has it."""
    headers = [(name.encode(), value) for name, value in request.headers.items()]
    headers.append((b"Accept", request.wanted.encode()))
    if request.content is not None:
        headers.append((b"Content-Type", b"application/json"))
    patience = timeout if timeout is not None else client.timeout
    return client.build_request(
        request.method, request.path, content=request.content, headers=headers, timeout=patience
    )


class Blocking:
    """Carries plans out in the calling thread. Threads may share one."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def drive(self, plan: Plan[T]) -> T:
        """Does what the plan says and returns its result."""
        step = functools.partial(next, plan)
        while True:
            try:
                effect: Any = step()
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                step = functools.partial(plan.send, self._perform(effect))
            except Exception as error:  # noqa: BLE001 - it is the plan's to handle
                step = functools.partial(plan.throw, error)

    def _perform(self, effect: Send | Sleep | Live) -> Any:
        if isinstance(effect, Send):
            _see_that_open(self.client)
            try:
                return reply_of(self.client.send(build(self.client, effect.request)))
            except httpx.RequestError as error:
                raise _failure(error) from error
        if isinstance(effect, Sleep):
            return time.sleep(effect.seconds)
        token = calling.set(effect.key)
        try:
            result = effect.call()
        finally:
            calling.reset(token)
        if inspect.isawaitable(result):
            if inspect.iscoroutine(result):
                result.close()
            raise TypeError("the call is a coroutine: use AsyncField, and `async with`")
        return result


class Awaiting:
    """Carries plans out in an event loop."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def drive(self, plan: Plan[T]) -> T:
        """Does what the plan says and returns its result."""
        step = functools.partial(next, plan)
        while True:
            try:
                effect: Any = step()
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                step = functools.partial(plan.send, await self._perform(effect))
            except Exception as error:  # noqa: BLE001 - it is the plan's to handle
                step = functools.partial(plan.throw, error)

    async def _perform(self, effect: Send | Sleep | Live) -> Any:
        if isinstance(effect, Send):
            _see_that_open(self.client)
            try:
                return reply_of(await self.client.send(build(self.client, effect.request)))
            except httpx.RequestError as error:
                raise _failure(error) from error
        if isinstance(effect, Sleep):
            return await asyncio.sleep(effect.seconds)
        token = calling.set(effect.key)
        try:
            result = effect.call()
            return await result if inspect.isawaitable(result) else result
        finally:
            calling.reset(token)


class BlockingShell(Generic[Core_co]):
    """Something whose plans are carried out blocking."""

    def __init__(self, core: Core_co, driver: Blocking) -> None:
        self._core = core
        self._driver = driver


class AwaitingShell(Generic[Core_co]):
    """Something whose plans are carried out awaiting."""

    def __init__(self, core: Core_co, driver: Awaiting) -> None:
        self._core = core
        self._driver = driver


def blocking(
    plan: Callable[Concatenate[Core_co, P], Plan[T]],
) -> Callable[Concatenate[BlockingShell[Core_co], P], T]:
    """The method that carries out this plan, with the same arguments."""

    @functools.wraps(plan)
    def method(self: BlockingShell[Core_co], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._driver.drive(plan(self._core, *args, **kwargs))

    return method


def awaiting(
    plan: Callable[Concatenate[Core_co, P], Plan[T]],
) -> Callable[Concatenate[AwaitingShell[Core_co], P], Coroutine[Any, Any, T]]:
    """The method that awaits this plan, with the same arguments."""

    @functools.wraps(plan)
    async def method(self: AwaitingShell[Core_co], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._driver.drive(plan(self._core, *args, **kwargs))

    return method
