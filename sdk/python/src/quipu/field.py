"""Fields: the way in, blocking and awaiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, overload

import httpx
from typing_extensions import Self

from ._agent_core import AgentCore
from ._field_core import PERSONA, SESSION, FieldCore
from ._link import Link
from ._run_core import LEASE_S
from ._shells import Awaiting, AwaitingShell, Blocking, BlockingShell, awaiting, blocking
from ._working import Claim, name_of, work_awaiting, work_blocking
from .agent import Agent, AsyncAgent
from .run import AsyncRun, Run

ROLE = "agent"
LIMITS = httpx.Limits(max_connections=256, max_keepalive_connections=32, keepalive_expiry=30.0)


class Field(BlockingShell[FieldCore]):
    """A Field of a Quipu server. Threads may share one.

    `timeout` is for one attempt; a message that brought no answer is sent again, the same one, for `retry_for`
    seconds. What is not given comes from `QUIPU_URL`, `QUIPU_KEY` and `QUIPU_FIELD`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        field: str | None = None,
        timeout: float = 30.0,
        retry_for: float = 30.0,
        client: httpx.Client | None = None,
    ) -> None:
        link = Link.given(url, key, field, timeout, retry_for)
        client = client or httpx.Client(timeout=timeout, limits=LIMITS)
        client.base_url = httpx.URL(link.url)
        client.headers.update(link.headers())
        super().__init__(FieldCore(link), Blocking(client))

    status = blocking(FieldCore.status)
    agents = blocking(FieldCore.agents)
    conflicts = blocking(FieldCore.conflicts)
    unit = blocking(FieldCore.unit)
    log = blocking(FieldCore.log)
    get_task = blocking(FieldCore.get_task)
    wait = blocking(FieldCore.wait)
    cancel = blocking(FieldCore.cancel)
    events = blocking(FieldCore.events)
    outcome = blocking(FieldCore.outcome)
    receipt = blocking(FieldCore.receipt)
    verify = blocking(FieldCore.verify)
    divergence = blocking(FieldCore.divergence)
    replay = blocking(FieldCore.replay)
    persona = blocking(FieldCore.persona)
    submit = blocking(FieldCore.submit)
    tasks = blocking(FieldCore.tasks)

    def agent(self, id: str, *, role: str = ROLE, interests: Sequence[str] = (), authority: int | None = None) -> Agent:
        """An agent of this Field, registered by its first operation."""
        return Agent(AgentCore(self._core.link, id, role, interests, authority=authority), self._driver, self._core)

    def task(
        self,
        title: str,
        *,
        input: Any = None,
        agent: str | None = None,
        persona: str = PERSONA,
        session: str = SESSION,
        metadata: Mapping[str, Any] | None = None,
        lease: float = LEASE_S,
    ) -> Run:
        """A new Task for a `with` block, which works on it. `lease` is the longest silence, in seconds, before the
        Task may go to another worker."""
        core = self._core.new_run(
            title, input=input, agent=agent, persona=persona, session=session, metadata=metadata, lease=lease
        )
        return Run(core, self._driver)

    def replaying(self, replay_task_id: str, *, agent: str | None = None, lease: float = LEASE_S) -> Run:
        """A replay Task for a `with` block: the same code is given the recorded answers, and nothing is called."""
        return Run(self._core.replay_run(replay_task_id, agent=agent, lease=lease), self._driver)

    def run_replay(self, replay_task_id: str, function: Callable[[Run], Any], *, agent: str | None = None) -> Run:
        """Works on a replay Task by `function(run)`, whose result is the Task's output."""
        with self.replaying(replay_task_id, agent=agent) as run:
            run.result = function(run)
        return run

    def resume(self, task_id: str, *, agent: str | None = None, lease: float = LEASE_S, wait: float = 0.0) -> Run:
        """A Task whose worker was lost, for a `with` block: what was recorded so far is not asked again, and
        behind it the run goes on live. While another worker has it, it is waited for as many seconds as `wait` says. A
        replay Task is replayed."""
        return Run(self._core.resumed_run(task_id, agent=agent, lease=lease, wait=wait), self._driver)

    def run(
        self,
        function: Callable[[Run], Any],
        title: str | None = None,
        *,
        task: str | None = None,
        wait: float = 0.0,
        agent: str | None = None,
        lease: float = LEASE_S,
        **options: Any,
    ) -> Run:
        """Works on a Task by `function(run)`, whose result is its output: on a new one, with the options of `task`,
        or on the one with this id, whether it is new, was left by a lost worker, or is a replay. One that is completed
        is given back as it is."""
        if task is None:
            run = self.task(title or name_of(function), agent=agent, lease=lease, **options)
        else:
            found = self.get_task(task)
            if found.status == "COMPLETED":
                return Run(self._driver.drive(self._core.ended_run(found, agent)), self._driver)
            run = self.resume(task, agent=agent, lease=lease, wait=wait)
        with run:
            run.result = function(run)
        return run

    def work(
        self,
        function: Callable[[Run], Any],
        *,
        queue: str | None = None,
        persona: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        lease: float = LEASE_S,
        retry_on: type[Exception] | tuple[type[Exception], ...] = Exception,
        most: int | None = None,
        stop: threading.Event | None = None,
    ) -> int:
        """Works on the Tasks of a queue, of a Persona or of a Session, one after the other, by `function(run)`.

        Ends when `stop` is set or the process is asked to end (SIGTERM, SIGINT), after the Task that is worked on, or
        after as many as `most` says, and tells how many there were. What the function raises fails its Task; of the
        kinds in `retry_on` it is tried again, where the Task was submitted with `retry`."""
        claim = Claim(queue=queue, persona=persona, session=session, agent=agent, lease=lease)
        return work_blocking(self, function, claim, retry_on=retry_on, most=most, stop=stop)

    def close(self) -> None:
        """Closes its connections."""
        self._driver.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncField(AwaitingShell[FieldCore]):
    """A Field of a Quipu server, for `await`. The same as `Field` otherwise."""

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        field: str | None = None,
        timeout: float = 30.0,
        retry_for: float = 30.0,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        link = Link.given(url, key, field, timeout, retry_for)
        client = client or httpx.AsyncClient(timeout=timeout, limits=LIMITS)
        client.base_url = httpx.URL(link.url)
        client.headers.update(link.headers())
        super().__init__(FieldCore(link), Awaiting(client))

    status = awaiting(FieldCore.status)
    agents = awaiting(FieldCore.agents)
    conflicts = awaiting(FieldCore.conflicts)
    unit = awaiting(FieldCore.unit)
    log = awaiting(FieldCore.log)
    get_task = awaiting(FieldCore.get_task)
    wait = awaiting(FieldCore.wait)
    cancel = awaiting(FieldCore.cancel)
    events = awaiting(FieldCore.events)
    outcome = awaiting(FieldCore.outcome)
    receipt = awaiting(FieldCore.receipt)
    verify = awaiting(FieldCore.verify)
    divergence = awaiting(FieldCore.divergence)
    replay = awaiting(FieldCore.replay)
    persona = awaiting(FieldCore.persona)
    submit = awaiting(FieldCore.submit)
    tasks = awaiting(FieldCore.tasks)

    def agent(
        self, id: str, *, role: str = ROLE, interests: Sequence[str] = (), authority: int | None = None
    ) -> AsyncAgent:
        """An agent of this Field, registered by its first operation."""
        return AsyncAgent(
            AgentCore(self._core.link, id, role, interests, authority=authority), self._driver, self._core
        )

    def task(
        self,
        title: str,
        *,
        input: Any = None,
        agent: str | None = None,
        persona: str = PERSONA,
        session: str = SESSION,
        metadata: Mapping[str, Any] | None = None,
        lease: float = LEASE_S,
    ) -> AsyncRun:
        """A new Task for an `async with` block, which works on it."""
        core = self._core.new_run(
            title, input=input, agent=agent, persona=persona, session=session, metadata=metadata, lease=lease
        )
        return AsyncRun(core, self._driver)

    def replaying(self, replay_task_id: str, *, agent: str | None = None, lease: float = LEASE_S) -> AsyncRun:
        """A replay Task for an `async with` block: the same code is given the recorded answers, nothing is called."""
        return AsyncRun(self._core.replay_run(replay_task_id, agent=agent, lease=lease), self._driver)

    async def run_replay(
        self, replay_task_id: str, function: Callable[[AsyncRun], Awaitable[Any]], *, agent: str | None = None
    ) -> AsyncRun:
        """Works on a replay Task by `await function(run)`, whose result is the Task's output."""
        async with self.replaying(replay_task_id, agent=agent) as run:
            run.result = await function(run)
        return run

    def resume(self, task_id: str, *, agent: str | None = None, lease: float = LEASE_S, wait: float = 0.0) -> AsyncRun:
        """A Task whose worker was lost, for an `async with` block: what was recorded so far is not asked again, and
        behind it the run goes on live. While another worker has it, it is waited for as many seconds as `wait` says. A
        replay Task is replayed."""
        return AsyncRun(self._core.resumed_run(task_id, agent=agent, lease=lease, wait=wait), self._driver)

    async def run(
        self,
        function: Callable[[AsyncRun], Awaitable[Any]],
        title: str | None = None,
        *,
        task: str | None = None,
        wait: float = 0.0,
        agent: str | None = None,
        lease: float = LEASE_S,
        **options: Any,
    ) -> AsyncRun:
        """Works on a Task by `await function(run)`, whose result is its output: on a new one, with the options of
        `task`, or on the one with this id, whether it is new, was left by a lost worker, or is a replay. One that is
        completed is given back as it is."""
        if task is None:
            run = self.task(title or name_of(function), agent=agent, lease=lease, **options)
        else:
            found = await self.get_task(task)
            if found.status == "COMPLETED":
                return AsyncRun(await self._driver.drive(self._core.ended_run(found, agent)), self._driver)
            run = self.resume(task, agent=agent, lease=lease, wait=wait)
        async with run:
            run.result = await function(run)
        return run

    async def work(
        self,
        function: Callable[[AsyncRun], Awaitable[Any]],
        *,
        queue: str | None = None,
        persona: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        lease: float = LEASE_S,
        retry_on: type[Exception] | tuple[type[Exception], ...] = Exception,
        most: int | None = None,
        stop: asyncio.Event | None = None,
    ) -> int:
        """Works on the Tasks of a queue, of a Persona or of a Session, one after the other, by `await function(run)`.

        Ends when `stop` is set or the process is asked to end (SIGTERM, SIGINT), after the Task that is worked on, or
        after as many as `most` says, and tells how many there were. What the function raises fails its Task; of the
        kinds in `retry_on` it is tried again, where the Task was submitted with `retry`."""
        claim = Claim(queue=queue, persona=persona, session=session, agent=agent, lease=lease)
        return await work_awaiting(self, function, claim, retry_on=retry_on, most=most, stop=stop)

    async def close(self) -> None:
        """Closes its connections."""
        await self._driver.client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()


@overload
def replaying(field: Field, replay_task_id: str, *, agent: str | None = None) -> Run: ...
@overload
def replaying(field: AsyncField, replay_task_id: str, *, agent: str | None = None) -> AsyncRun: ...


def replaying(field: Field | AsyncField, replay_task_id: str, *, agent: str | None = None) -> Run | AsyncRun:
    """A replay Task for a block in which recorded functions are called: they are given the recorded answers."""
    return field.replaying(replay_task_id, agent=agent)
