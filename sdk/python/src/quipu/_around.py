"""Which run some code belongs to: the one whose block it is in, also in threads that were started there.

A thread does not have the context of who started it. So it is noted when a thread is started within a run: from the
first run of a process on, `threading.Thread.start` does that before it starts the thread. Nothing else is changed."""

from __future__ import annotations

import functools
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from .run import AsyncRun, Run

current: ContextVar[Run | AsyncRun | None] = ContextVar("quipu_run", default=None)

_lock = threading.Lock()
_open: dict[int, Run | AsyncRun] = {}
_started_in: WeakKeyDictionary[threading.Thread, Run | AsyncRun] = WeakKeyDictionary()
_listening = False


def current_run() -> Run | AsyncRun | None:
    """The run that this code belongs to: the one whose block it is in, or in whose block its thread was started. A
    thread of a pool may work for several runs: it belongs to the one that it was started in while no other is open."""
    run = current.get()
    return run if run is not None else _of_thread()


def opened(run: Run | AsyncRun) -> None:
    """The block of this run has begun."""
    global _listening  # noqa: PLW0603 - it is done once in a process
    with _lock:
        _open[id(run)] = run
        if not _listening:
            _listen()
            _listening = True


def closed(run: Run | AsyncRun) -> None:
    """The block of this run has ended."""
    with _lock:
        _open.pop(id(run), None)


def open_replay() -> Run | AsyncRun | None:
    """A replay that is going on somewhere in this process."""
    with _lock:
        return next((run for run in _open.values() if run.replays), None)


def _of_thread() -> Run | AsyncRun | None:
    if not _open:
        return None
    thread = threading.current_thread()
    run = _started_in.get(thread)
    with _lock:
        if run is None or id(run) not in _open:
            return None
        return run if len(_open) == 1 or not _is_of_pool(thread) else None


def _is_of_pool(thread: threading.Thread) -> bool:
    return getattr(getattr(thread, "_target", None), "__module__", None) == "concurrent.futures.thread"


def _listen() -> None:
    start = threading.Thread.start

    @functools.wraps(start)
    def started(self: threading.Thread) -> None:
        if _open:
            run = current_run()
            if run is not None:
                _started_in[self] = run
        start(self)

    threading.Thread.start = started  # type: ignore[method-assign]
