"""Workers: they take the next Task of a queue, work on it, and take the next one, until they are asked to end."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._plans import Plan
from ._run_core import RunCore
from .errors import Conflicted, QuipuError
from .run import AsyncRun, Run

if TYPE_CHECKING:
    from .field import AsyncField, Field

_log = logging.getLogger("quipu")
# How long one question for the next Task waits: so long the end may have to wait, too.
_WAIT_S = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
Kinds = type[Exception] | tuple[type[Exception], ...]


@dataclass(frozen=True)
class Claim:
    """Which Tasks a worker takes, and as whom."""

    queue: str | None
    persona: str | None
    session: str | None
    agent: str | None
    lease: float

    def next(self, field: Field | AsyncField, retry_on: Kinds) -> Plan[RunCore | None]:
        """A run of the next Task; None where there is none now."""
        core = field._core  # noqa: SLF001 - of this package
        task = yield from core.claim_next(**vars(self), wait=_WAIT_S)
        if task is None:
            return None
        run = core.claimed_run(task, agent=self.agent, lease=self.lease)
        run.retries = retry_on if isinstance(retry_on, tuple) else (retry_on,)
        return run


def name_of(function: Callable[..., Any]) -> str:
    """What a Task of this function is called."""
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or "a run")


def work_blocking(
    field: Field,
    function: Callable[[Run], Any],
    claim: Claim,
    *,
    retry_on: Kinds,
    most: int | None,
    stop: threading.Event | None,
) -> int:
    """The loop of a worker that blocks."""
    over = stop or threading.Event()
    done = 0
    with _asked_to_end(over):
        while not over.is_set() and (most is None or done < most):
            core = field._driver.drive(claim.next(field, retry_on))  # noqa: SLF001 - of this package
            if core is not None:
                _work_on(Run(core, field._driver), function)  # noqa: SLF001
                done += 1
    return done


def _work_on(run: Run, function: Callable[[Run], Any]) -> None:
    try:
        with run:
            run.result = function(run)
    except Exception as error:  # noqa: BLE001 - the next Task may fare better
        _tell(run, error)


async def work_awaiting(
    field: AsyncField,
    function: Callable[[AsyncRun], Awaitable[Any]],
    claim: Claim,
    *,
    retry_on: Kinds,
    most: int | None,
    stop: asyncio.Event | None,
) -> int:
    """The loop of a worker that awaits."""
    over = stop or asyncio.Event()
    done = 0
    with _loop_asked_to_end(over):
        while not over.is_set() and (most is None or done < most):
            core = await field._driver.drive(claim.next(field, retry_on))  # noqa: SLF001 - of this package
            if core is not None:
                await _await_work_on(AsyncRun(core, field._driver), function)  # noqa: SLF001
                done += 1
    return done


async def _await_work_on(run: AsyncRun, function: Callable[[AsyncRun], Awaitable[Any]]) -> None:
    try:
        async with run:
            run.result = await function(run)
    except Exception as error:  # noqa: BLE001 - the next Task may fare better
        _tell(run, error)


def _tell(run: Run | AsyncRun, error: Exception) -> None:
    if isinstance(error, Conflicted | QuipuError):
        _log.warning("task %s was given up: %s", run.id, error)
    else:
        _log.exception("task %s has failed", run.id, exc_info=error)


@contextmanager
def _asked_to_end(over: threading.Event) -> Iterator[None]:
    """Sets it when the process is asked to end; asked again, the process ends as it would without us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def heard(_number: int, _frame: object) -> None:
        over.set()
        restore()

    for number in _SIGNALS:
        signal.signal(number, heard)
    try:
        yield
    finally:
        restore()


@contextmanager
def _loop_asked_to_end(over: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    heard: list[signal.Signals] = []

    def forget() -> None:
        while heard:
            loop.remove_signal_handler(heard.pop())

    def end() -> None:
        over.set()
        forget()

    # Only the main thread hears signals, and not everywhere.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in _SIGNALS:
            loop.add_signal_handler(number, end)
            heard.append(number)
    try:
        yield
    finally:
        forget()
