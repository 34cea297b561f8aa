"""Where a thread is kept: a Session, and in it the Events of Tasks. As plans.

Live, Events go to the Task of the run that is going on, if it is one of the thread's Session, else to a Task that the
thread has for itself. In a replay nothing is written: the thread is as it was before the source began, and what the
graph adds is forgotten with the run. A run that goes on where another worker was lost begins there too, and writes."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, TypeVar
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from ..._agent_core import AgentCore
from ..._field_core import FieldCore
from ..._plans import Page, Plan
from ..._run_core import RunCore
from ..._wire import harn, present, segment
from ...errors import Conflicted, NotFound
from ...models import HarnTask
from ...run import AsyncRun, Run, current_run
from .._sessions import enter
from ._thread import Payload, Thread, told

_PAGE = 200
# Threads that are kept in memory; the others are read again when they are asked for.
_KEPT_MAX = 256
_LEASE_S = 600.0
_OWN = {"langgraph": "thread"}

T = TypeVar("T")


def _keep(kept: OrderedDict[str, T], name: str, it: T) -> None:
    """Keeps it as the last one, and forgets the first ones of too many."""
    kept[name] = it
    kept.move_to_end(name)
    while len(kept) > _KEPT_MAX:
        kept.popitem(last=False)


class SaverCore:
    """The threads of a Field."""

    def __init__(self, field: FieldCore, agent: AgentCore, prefix: str, persona: str) -> None:
        self.field = field
        self.agent = agent
        self.prefix = prefix
        self.persona = persona
        self._threads: OrderedDict[str, Thread] = OrderedDict()
        self._tasks: OrderedDict[str, RunCore] = OrderedDict()
        self._entered: set[str] = set()
        # By the run that replays or goes on: where it began at first, and the threads as it has them.
        self._replays: WeakKeyDictionary[Run | AsyncRun, tuple[str, dict[str, Thread]]] = WeakKeyDictionary()

    def session_of(self, thread_id: str) -> str:
        """The Session that is the thread."""
        return f"{self.prefix}{thread_id}"

    def thread_ids(self) -> Plan[list[str]]:
        """All threads, the oldest first."""
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = yield from self._get(f"/v1/sessions?{urlencode(present(limit=_PAGE, cursor=cursor))}")
            names = (str(session["id"]) for session in page.data)
            found += [name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix)]
            cursor = page.next_cursor
            if cursor is None:
                return found

    def read(self, thread_id: str) -> Plan[Thread]:
        """The thread as it is now."""
        session = self.session_of(thread_id)
        replay = yield from self._replay()
        if replay is not None:
            begin, threads = replay
            if session not in threads:
                threads[session] = yield from self._catch_up(session, Thread(), before=begin)
            return threads[session]
        thread = yield from self._catch_up(session, self._threads.get(session) or Thread())
        _keep(self._threads, session, thread)
        return thread

    def tell(self, thread_id: str, events: Iterable[tuple[str, Payload]], boundary: str | None = None) -> Plan[None]:
        """Adds to the thread. A boundary is a place that a replay may begin from."""
        session = self.session_of(thread_id)
        if (yield from self._replay()) is not None:
            thread = yield from self.read(thread_id)
            events = list(events)
            for name, payload in events:
                thread.tell(name, payload)
            run = current_run()
            if run is not None and run.replays:
                return
        for name, payload in events:
            for event, said in told(name, payload):
                yield from self._append(session, event, said)
        if boundary is not None:
            task = yield from self._task(session)
            yield from task.checkpoint(boundary)

    def finish(self, thread_id: str, summary: str, output: Any) -> Plan[HarnTask]:
        """Ends the Task that the thread has for itself, so that it has a receipt. The thread itself goes on."""
        session = self.session_of(thread_id)
        task = yield from self._own_task(session)
        self._tasks.pop(session, None)
        task.summary, task.result = summary, output
        yield from task.complete()
        return (yield from self.field.get_task(task.id))

    def enter(self, session: str) -> Plan[None]:
        """Joins the Session, which is opened where there is none."""
        if session in self._entered:
            return
        yield from enter(self.agent, session, f"Thread {session} of a graph")
        self._entered.add(session)

    def _get(self, path: str) -> Plan[Page]:
        return (yield from self.field.link.ask(harn("GET", path, agent=self.agent.id), Page))

    def _catch_up(self, session: str, thread: Thread, before: str | None = None) -> Plan[Thread]:
        path = f"/v1/sessions/{segment(session)}/events"
        while True:
            query = urlencode(present(limit=_PAGE, after_event_id=thread.last_event))
            try:
                page = yield from self._get(f"{path}?{query}")
            except NotFound:
                return thread
            # The ids of Events grow in every stream.
            heard = [event for event in page.data if before is None or event["id"] < before]
            thread.hear(heard)
            # A page may end early, because it has only so many bytes.
            if not page.has_more or len(heard) < len(page.data):
                return thread

    def _replay(self) -> Plan[tuple[str, dict[str, Thread]] | None]:
        run = current_run()
        if run is None or not (run.replays or run.resumes):
            return None
        if run._core.link != self.field.link:  # noqa: SLF001 - of this package
            if not run.replays:
                return None
            raise RuntimeError("a graph replays with a saver of the Field that its run is in")
        if run not in self._replays:
            source = run.task
            while source.parent_task_id and source.is_replay:
                source = yield from self.field.get_task(source.parent_task_id)
            first = yield from self.field.events(source.id, limit=1)
            self._replays[run] = (first[0].id, {})
        return self._replays[run]

    def _append(self, session: str, event: str, payload: Payload) -> Plan[None]:
        task = yield from self._task(session)
        try:
            yield from task.event(event, payload)
        except Conflicted:
            if self._tasks.pop(session, None) is None:
                raise
            # The thread's own Task has ended, or its lease ran out.
            task = yield from self._own_task(session)
            yield from task.event(event, payload)

    def _task(self, session: str) -> Plan[RunCore]:
        run = current_run()
        core = run._core if run is not None else None  # noqa: SLF001
        if core is not None and core.link == self.field.link and core.task and core.task.session_id == session:
            return core
        return (yield from self._own_task(session))

    def _own_task(self, session: str) -> Plan[RunCore]:
        if session not in self._tasks:
            yield from self.enter(session)
            own = yield from self._own_tasks(session)
            for task in own:
                if not task.is_over:
                    begun = yield from self._begin(session, task)
                    if begun is not None:
                        return begun
            # Those who begin at once ask for the same one.
            named = f"{session}:{len(own)}".encode()
            task = yield from self._submit(session, hashlib.sha256(named).hexdigest())
            begun = yield from self._begin(session, task)
            if begun is None:
                raise Conflicted(f"{task.id} is worked on by {task.assigned_agent_id}", code="conflict")
        return self._tasks[session]

    def _begin(self, session: str, task: HarnTask) -> Plan[RunCore | None]:
        def known() -> Plan[HarnTask]:
            return task
            yield  # a plan, though it asks nobody

        link, agent = self.field.link, self.agent.id
        core = RunCore(
            link, known, title=f"Thread {session}", agent=agent, lease=_LEASE_S, replays=False, tells_once=False
        )
        try:
            yield from core.begin()
        except Conflicted:
            return None
        _keep(self._tasks, session, core)
        return core

    def _own_tasks(self, session: str) -> Plan[list[HarnTask]]:
        found: list[HarnTask] = []
        cursor: str | None = None
        while True:
            query = urlencode(present(session_id=session, limit=_PAGE, cursor=cursor))
            page = yield from self._get(f"/v1/tasks?{query}")
            tasks = (HarnTask.model_validate(task) for task in page.data)
            found += [task for task in tasks if task.metadata == _OWN]
            cursor = page.next_cursor
            if cursor is None:
                return found

    def _submit(self, session: str, key: str) -> Plan[HarnTask]:
        persona = yield from self.field.persona(self.persona)
        body = {"session_id": session, "persona_id": persona, "input": f"Thread {session}", "metadata": _OWN}
        request = harn("POST", "/v1/tasks", body, agent=self.agent.id, key=key)
        return (yield from self.field.link.ask(request, HarnTask))
