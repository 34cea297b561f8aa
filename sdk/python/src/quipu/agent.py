"""Agents: the operations of Akashik, blocking and awaiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import Self

from ._agent_core import AgentCore, Event
from ._field_core import PERSONA, SESSION, FieldCore
from ._run_core import LEASE_S
from ._shells import Awaiting, AwaitingShell, Blocking, BlockingShell, awaiting, blocking
from ._stream import Listening
from .models import Subscribed
from .run import AsyncRun, Run
from .subscription import AsyncSubscription, Subscription


class _Named:
    _core: AgentCore

    @property
    def id(self) -> str:
        """The agent's name."""
        return self._core.id

    @property
    def role(self) -> str:
        """The role that it registers with and attunes as."""
        return self._core.role

    @property
    def session_id(self) -> str | None:
        """The session that it speaks in."""
        return self._core.session_id

    def _listening(self, made: Subscribed, after: str | None, reconnect_for: float | None) -> Listening:
        if made.subscription is None:
            raise RuntimeError("the server made no subscription")
        cursor = after or made.subscription.cursor
        return Listening(made.subscription.id, cursor, self._core.id, self._core.link.patience, reconnect_for)

    def _resumed(self, subscription_id: str, after: str, reconnect_for: float | None) -> Listening:
        return Listening(subscription_id, after, self._core.id, self._core.link.patience, reconnect_for)


class Agent(_Named, BlockingShell[AgentCore]):
    """An agent of a Field. It registers with its first operation."""

    def __init__(self, core: AgentCore, driver: Blocking, field: FieldCore) -> None:
        super().__init__(core, driver)
        self._field = field

    register = blocking(AgentCore.register)
    deregister = blocking(AgentCore.deregister)
    record = blocking(AgentCore.record)
    record_all = blocking(AgentCore.record_all)
    attune = blocking(AgentCore.attune)
    detect = blocking(AgentCore.detect)
    merge = blocking(AgentCore.merge)
    replay = blocking(AgentCore.replay)
    compact = blocking(AgentCore.compact)
    coordinate = blocking(AgentCore.coordinate)
    handoff = blocking(AgentCore.handoff)
    session = blocking(AgentCore.session)
    retract = blocking(AgentCore.retract)
    restore = blocking(AgentCore.restore)
    unit = blocking(AgentCore.unit)
    subscriptions = blocking(AgentCore.subscriptions)
    unsubscribe = blocking(AgentCore.unsubscribe)

    def within(self, session_id: str | None) -> Self:
        """The same agent, speaking in this session."""
        return type(self)(self._core.within(session_id), self._driver, self._field)

    def task(
        self,
        title: str,
        *,
        input: Any = None,
        persona: str = PERSONA,
        session: str = SESSION,
        metadata: Mapping[str, Any] | None = None,
        lease: float = LEASE_S,
    ) -> Run:
        """A Task that this agent works on: `Field.task` with its name."""
        core = self._field.new_run(
            title, input=input, agent=self.id, persona=persona, session=session, metadata=metadata, lease=lease
        )
        return Run(core, self._driver)

    def subscribe(
        self,
        events: Sequence[Event],
        *,
        min_relevance: float | None = None,
        debounce_ms: int | None = None,
        reconnect_for: float | None = None,
    ) -> Subscription:
        """SUBSCRIBE: an iterator over what is pushed from now on. It resumes by itself; where the server cannot be
        reached for `reconnect_for` seconds (for ever if None) it raises."""
        made = self._driver.drive(self._core.open_subscription(events, min_relevance, debounce_ms))
        return Subscription(self._listening(made, None, reconnect_for), self._driver, self._core.link.timeout)

    def resume(self, subscription_id: str, *, after: str, reconnect_for: float | None = None) -> Subscription:
        """Goes on with a subscription that was made before, behind a cursor."""
        listening = self._resumed(subscription_id, after, reconnect_for)
        return Subscription(listening, self._driver, self._core.link.timeout)


class AsyncAgent(_Named, AwaitingShell[AgentCore]):
    """An agent of a Field, for `await`. It registers with its first operation."""

    def __init__(self, core: AgentCore, driver: Awaiting, field: FieldCore) -> None:
        super().__init__(core, driver)
        self._field = field

    register = awaiting(AgentCore.register)
    deregister = awaiting(AgentCore.deregister)
    record = awaiting(AgentCore.record)
    record_all = awaiting(AgentCore.record_all)
    attune = awaiting(AgentCore.attune)
    detect = awaiting(AgentCore.detect)
    merge = awaiting(AgentCore.merge)
    replay = awaiting(AgentCore.replay)
    compact = awaiting(AgentCore.compact)
    coordinate = awaiting(AgentCore.coordinate)
    handoff = awaiting(AgentCore.handoff)
    session = awaiting(AgentCore.session)
    retract = awaiting(AgentCore.retract)
    restore = awaiting(AgentCore.restore)
    unit = awaiting(AgentCore.unit)
    subscriptions = awaiting(AgentCore.subscriptions)
    unsubscribe = awaiting(AgentCore.unsubscribe)

    def within(self, session_id: str | None) -> Self:
        """The same agent, speaking in this session."""
        return type(self)(self._core.within(session_id), self._driver, self._field)

    def task(
        self,
        title: str,
        *,
        input: Any = None,
        persona: str = PERSONA,
        session: str = SESSION,
        metadata: Mapping[str, Any] | None = None,
        lease: float = LEASE_S,
    ) -> AsyncRun:
        """A Task that this agent works on: `AsyncField.task` with its name."""
        core = self._field.new_run(
            title, input=input, agent=self.id, persona=persona, session=session, metadata=metadata, lease=lease
        )
        return AsyncRun(core, self._driver)

    async def subscribe(
        self,
        events: Sequence[Event],
        *,
        min_relevance: float | None = None,
        debounce_ms: int | None = None,
        reconnect_for: float | None = None,
    ) -> AsyncSubscription:
        """SUBSCRIBE: an async iterator over what is pushed from now on. It resumes by itself; where the server cannot
        be reached for `reconnect_for` seconds (for ever if None) it raises."""
        made = await self._driver.drive(self._core.open_subscription(events, min_relevance, debounce_ms))
        return AsyncSubscription(self._listening(made, None, reconnect_for), self._driver, self._core.link.timeout)

    def resume(self, subscription_id: str, *, after: str, reconnect_for: float | None = None) -> AsyncSubscription:
        """Goes on with a subscription that was made before, behind a cursor."""
        listening = self._resumed(subscription_id, after, reconnect_for)
        return AsyncSubscription(listening, self._driver, self._core.link.timeout)
