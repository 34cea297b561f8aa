"""Signs of life while a run works, so that a call may take longer than the lease: from a thread of their own, or from a
task of the event loop. They end with the run, and with the process."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress

from ._run_core import RunCore
from ._shells import Awaiting, Blocking

_log = logging.getLogger("quipu")
# So many signs in the time of one lease: one or two may get lost.
_IN_A_LEASE = 3
_SHORTEST_S = 0.01


def _pause(core: RunCore) -> float:
    return max(core.lease / _IN_A_LEASE, _SHORTEST_S)


class BlockingPulse:
    """The signs of life of a run that blocks."""

    def __init__(self, core: RunCore, driver: Blocking) -> None:
        self._core, self._driver = core, driver
        self._over = threading.Event()

    def start(self) -> None:
        """Begins with them."""
        threading.Thread(target=self._beat, name="quipu-heartbeat", daemon=True).start()

    def stop(self) -> None:
        """Ends them."""
        self._over.set()

    def _beat(self) -> None:
        while not self._over.wait(_pause(self._core)) and self._core.lost is None:
            try:
                self._driver.drive(self._core.heartbeat())
            except Exception as missed:  # noqa: BLE001, PERF203 - the next one may come through
                if not self._over.is_set():
                    _log.debug("no sign of life for %s: %s", self._core.id, missed)


class AwaitingPulse:
    """The signs of life of a run that awaits."""

    def __init__(self, core: RunCore, driver: Awaiting) -> None:
        self._core, self._driver = core, driver
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins with them."""
        self._task = asyncio.create_task(self._beat(), name="quipu-heartbeat")

    async def stop(self) -> None:
        """Ends them."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _beat(self) -> None:
        while self._core.lost is None:
            await asyncio.sleep(_pause(self._core))
            try:
                await self._driver.drive(self._core.heartbeat())
            except Exception as missed:  # noqa: BLE001 - the next one may come through
                _log.debug("no sign of life for %s: %s", self._core.id, missed)
