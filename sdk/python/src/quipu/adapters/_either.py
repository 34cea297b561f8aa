"""Plans for libraries whose classes have both kinds of methods, over whichever kind of Field there is."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from .._agent_core import AgentCore
from .._field_core import FieldCore
from .._plans import Plan
from .._shells import Blocking
from ..field import AsyncField, Field

T = TypeVar("T")


class Either:
    """Carries plans out blocking and awaiting. Over a `Field`, awaiting is done in a thread; over an `AsyncField`
    there is no blocking."""

    def __init__(self, field: Field | AsyncField) -> None:
        self.core: FieldCore = field._core  # noqa: SLF001 - of this package
        self._driver = field._driver  # noqa: SLF001

    def agent(self, id: str, role: str) -> AgentCore:
        """An agent of the Field."""
        return AgentCore(self.core.link, id, role)

    def blocking(self, plan: Plan[T]) -> T:
        """The plan's result."""
        if not isinstance(self._driver, Blocking):
            raise RuntimeError("this is over an AsyncField: await the `a…` method, or use quipu.Field")
        return self._driver.drive(plan)

    async def awaiting(self, plan: Plan[T]) -> T:
        """The plan's result, awaited."""
        if isinstance(self._driver, Blocking):
            return await asyncio.to_thread(self._driver.drive, plan)
        return await self._driver.drive(plan)
