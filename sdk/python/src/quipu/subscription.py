"""Subscriptions as iterators. They go on behind their cursor after a break and after a restart of the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import suppress
from types import TracebackType

import httpx
from typing_extensions import Self

from ._shells import Awaiting, Blocking, build, reply_of
from ._stream import SILENCE_S, Listening
from .models import Notification


class _Base:
    def __init__(self, listening: Listening) -> None:
        self._listening = listening
        self._closed = False

    @property
    def id(self) -> str:
        """The subscription's id; another process may resume it by `after=cursor`."""
        return self._listening.id

    @property
    def cursor(self) -> str:
        """Behind the last notification that was given out."""
        return self._listening.cursor

    def close(self) -> None:
        """Stops listening at the next sign of life. The subscription stays; `Agent.unsubscribe` ends it."""
        self._closed = True

    @property
    def _done(self) -> bool:
        return self._closed or self._listening.ended


class Subscription(_Base):
    """Iterates over notifications, waiting for the next one."""

    def __init__(self, listening: Listening, driver: Blocking, connect_timeout: float) -> None:
        super().__init__(listening)
        self._driver = driver
        self._connect_timeout = connect_timeout
        self._events = self._listen()

    def __iter__(self) -> Iterator[Notification]:
        return self

    def __next__(self) -> Notification:
        return next(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closed = True
        # Another thread that waits for the next one sees that it is closed.
        with suppress(ValueError):
            self._events.close()

    def _listen(self) -> Generator[Notification, None, None]:
        while not self._done:
            try:
                pause = yield from self._once()
            except httpx.RequestError as error:
                pause = self._listening.broken(error)
            if not self._done:
                time.sleep(pause)

    def _once(self) -> Generator[Notification, None, float]:
        client = self._driver.client
        request = build(client, self._listening.request(), _timeout(self._connect_timeout))
        response = client.send(request, stream=True)
        try:
            if response.status_code != httpx.codes.OK:
                response.read()
                return self._listening.refused(reply_of(response))
            for chunk in response.iter_bytes():
                yield from self._listening.feed(chunk)
                if self._done:
                    break
        finally:
            response.close()
        return self._listening.broken(None)


class AsyncSubscription(_Base):
    """Iterates over notifications with `async for`."""

    def __init__(self, listening: Listening, driver: Awaiting, connect_timeout: float) -> None:
        super().__init__(listening)
        self._driver = driver
        self._connect_timeout = connect_timeout
        self._events = self._listen()

    def __aiter__(self) -> AsyncIterator[Notification]:
        return self

    async def __anext__(self) -> Notification:
        return await self._events.__anext__()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._closed = True
        # Another task that waits for the next one sees that it is closed.
        with suppress(RuntimeError):
            await self._events.aclose()

    async def _listen(self) -> AsyncGenerator[Notification, None]:
        while not self._done:
            client = self._driver.client
            request = build(client, self._listening.request(), _timeout(self._connect_timeout))
            try:
                response = await client.send(request, stream=True)
                try:
                    if response.status_code != httpx.codes.OK:
                        await response.aread()
                        pause = self._listening.refused(reply_of(response))
                    else:
                        async for chunk in response.aiter_bytes():
                            for found in self._listening.feed(chunk):
                                yield found
                            if self._done:
                                break
                        pause = self._listening.broken(None)
                finally:
                    await response.aclose()
            except httpx.RequestError as error:
                pause = self._listening.broken(error)
            if not self._done:
                await asyncio.sleep(pause)


def _timeout(connect: float) -> httpx.Timeout:
    return httpx.Timeout(connect, read=SILENCE_S)
