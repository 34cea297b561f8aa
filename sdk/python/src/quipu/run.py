"""Runs as context managers: the Task ends as the block does."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from contextvars import Token
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, cast

from typing_extensions import Self

from ._around import closed, current, current_run, opened
from ._lease import AwaitingPulse, BlockingPulse
from ._run_core import RunCore
from ._shells import Awaiting, AwaitingShell, Blocking, BlockingShell, awaiting, blocking
from .errors import ConnectionFailed, QuipuError
from .models import HarnTask

__all__ = ["AsyncRun", "Run", "current_run"]

_log = logging.getLogger("quipu")
P = ParamSpec("P")
T = TypeVar("T")


def _see_that_nothing_is_called(core: RunCore) -> None:
    around = current_run()
    if around is not None and around.replays and not core.replays:
        # Its answers would be live ones, and the replay promised that there are none.
        raise RuntimeError(
            f"{core.title!r} would be a new task within a replay: use a `@recorded` function, or ask by the run"
        )


class _State:
    """What both kinds of runs show of themselves."""

    _core: RunCore
    _token: Token[Run | AsyncRun | None] | None

    @property
    def id(self) -> str:
        """The Task's id."""
        return self._core.id

    @property
    def title(self) -> str:
        """What the Task is called."""
        return self._core.title

    @property
    def replays(self) -> bool:
        """Whether the answers come from a recording."""
        return self._core.replays

    @property
    def resumes(self) -> bool:
        """Whether an earlier worker recorded answers of this Task, which are not asked for again."""
        return self._core.resumes

    @property
    def task(self) -> HarnTask:
        """The Task as it was last heard of."""
        if self._core.task is None:
            raise RuntimeError("the run has not begun: use `with`")
        return self._core.task

    @property
    def input(self) -> Any:
        """What the Task was submitted with."""
        return self.task.input

    @property
    def drift(self) -> list[str]:
        """The keys that a replay asked otherwise than the recording."""
        return list(self._core.drift)

    @property
    def result(self) -> Any:
        """What will be the Task's output: any JSON."""
        return self._core.result

    @result.setter
    def result(self, value: Any) -> None:
        self._core.result = value

    @property
    def summary(self) -> str | None:
        """What came of it in words; the title if it is not set."""
        return self._core.summary

    @summary.setter
    def summary(self, text: str | None) -> None:
        self._core.summary = text

    def next_key(self, stem: str) -> str:
        """The key of the next question of this stem: `llm:main` gives `llm:main:1`, then `llm:main:2`."""
        return self._core.next_key(stem)

    def leave(self) -> None:
        """Leaves the Task as it is, for another worker that goes on: the end of the block does not end it."""
        self._core.is_left = True

    def carry(self, function: Callable[P, T]) -> Callable[P, T]:
        """The function as a part of this run wherever it is called: in a pool of threads that was there before the run,
        in a callback of a library."""
        here = cast("Run | AsyncRun", self)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                token = current.set(here)
                try:
                    return await function(*args, **kwargs)
                finally:
                    current.reset(token)

            return cast("Callable[P, T]", awaited)

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            token = current.set(here)
            try:
                return function(*args, **kwargs)
            finally:
                current.reset(token)

        return called

    def _enter(self) -> None:
        here = cast("Run | AsyncRun", self)
        self._token = current.set(here)
        opened(here)

    def _leave(self) -> None:
        closed(cast("Run | AsyncRun", self))
        if self._token is not None:
            try:
                current.reset(self._token)
            except ValueError:  # the block was left in another context, as generators do
                current.set(None)
            self._token = None


class Run(_State, BlockingShell[RunCore]):
    """A Task that is worked on in a `with` block."""

    def __init__(self, core: RunCore, driver: Blocking) -> None:
        super().__init__(core, driver)
        self._token = None
        self._pulse = BlockingPulse(core, driver)

    llm = blocking(RunCore.llm)
    tool = blocking(RunCore.tool)
    host = blocking(RunCore.host)
    now = blocking(RunCore.now)
    secret = blocking(RunCore.secret)
    answer = blocking(RunCore.answer)
    keep = blocking(RunCore.keep)
    resolve = blocking(RunCore.resolve)
    event = blocking(RunCore.event)
    checkpoint = blocking(RunCore.checkpoint)
    receipt = blocking(RunCore.receipt)
    outcome = blocking(RunCore.outcome)
    divergence = blocking(RunCore.divergence)

    def __enter__(self) -> Self:
        _see_that_nothing_is_called(self._core)
        self._driver.drive(self._core.begin())
        self._pulse.start()
        self._enter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._leave()
        try:
            self._end(error)
        finally:
            self._pulse.stop()

    def _end(self, error: BaseException | None) -> None:
        if self._core.is_left:
            return
        if error is None:
            try:
                self._driver.drive(self._core.complete())
            except QuipuError as refused:
                if not isinstance(refused, ConnectionFailed):
                    self._give_up(refused)
                raise
        else:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        try:
            self._driver.drive(self._core.fail(error))
        except QuipuError as problem:
            # What the block raised is what the caller must see.
            _log.warning("task %s could not be failed: %s", self.id, problem)


class AsyncRun(_State, AwaitingShell[RunCore]):
    """A Task that is worked on in an `async with` block."""

    def __init__(self, core: RunCore, driver: Awaiting) -> None:
        super().__init__(core, driver)
        self._token = None
        self._pulse = AwaitingPulse(core, driver)

    llm = awaiting(RunCore.llm)
    tool = awaiting(RunCore.tool)
    host = awaiting(RunCore.host)
    now = awaiting(RunCore.now)
    secret = awaiting(RunCore.secret)
    answer = awaiting(RunCore.answer)
    keep = awaiting(RunCore.keep)
    resolve = awaiting(RunCore.resolve)
    event = awaiting(RunCore.event)
    checkpoint = awaiting(RunCore.checkpoint)
    receipt = awaiting(RunCore.receipt)
    outcome = awaiting(RunCore.outcome)
    divergence = awaiting(RunCore.divergence)

    async def __aenter__(self) -> Self:
        _see_that_nothing_is_called(self._core)
        await self._driver.drive(self._core.begin())
        self._pulse.start()
        self._enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._leave()
        try:
            await self._end(error)
        finally:
            await self._pulse.stop()

    async def _end(self, error: BaseException | None) -> None:
        if self._core.is_left:
            return
        if error is None:
            try:
                await self._driver.drive(self._core.complete())
            except QuipuError as refused:
                if not isinstance(refused, ConnectionFailed):
                    await self._give_up(refused)
                raise
        else:
            await self._give_up(error)

    async def _give_up(self, error: BaseException) -> None:
        try:
            await self._driver.drive(self._core.fail(error))
        except QuipuError as problem:
            # What the block raised is what the caller must see.
            _log.warning("task %s could not be failed: %s", self.id, problem)
