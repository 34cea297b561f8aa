"""What a Field is asked without an agent, and Tasks, as plans."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlencode

from ._answers import overrides_body
from ._link import Link
from ._plans import Page, Plan, Sleep
from ._run_core import LEASE_S, RunCore, outcome_of, receipt_of
from ._wire import harn, present, read, read_model, segment
from .errors import NotFound, PermissionDenied, TimedOut
from .models import (
    AgentInfo,
    AgentList,
    Conflict,
    ConflictList,
    Divergence,
    FieldStatus,
    HarnTask,
    LogPage,
    MemoryUnit,
    Outcome,
    Persona,
    Receipt,
    TaskEvent,
    Verification,
)

PERSONA = "worker"
WORKER = "persona_worker"
POLL_S = 0.05
SESSION = "session_default"


class FieldCore:
    """A Field of a server."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._personas: dict[str, str] = {}
        self._lock = threading.Lock()

    def status(self) -> Plan[FieldStatus]:
        """Clock, log position and counts."""
        return (yield from self.link.ask(read("/v1/field/status"), FieldStatus))

    def agents(self) -> Plan[list[AgentInfo]]:
        """The agents that are registered now."""
        return (yield from self.link.ask(read("/v1/agents"), AgentList)).agents

    def conflicts(self) -> Plan[list[Conflict]]:
        """The conflicts that are not resolved."""
        return (yield from self.link.ask(read("/v1/conflicts"), ConflictList)).conflicts

    def unit(self, unit_id: str) -> Plan[MemoryUnit]:
        """One unit, whatever its status."""
        return (yield from self.link.ask(read(f"/v1/units/{segment(unit_id)}"), MemoryUnit))

    def log(self, start: int = 1, limit: int = 100) -> Plan[LogPage]:
        """Commits of the log from a position on."""
        return (yield from self.link.ask(read(f"/v1/log?from={start}&limit={limit}"), LogPage))

    def get_task(self, task_id: str) -> Plan[HarnTask]:
        """A Task as it is now."""
        return (yield from self.link.ask(harn("GET", f"/v1/tasks/{segment(task_id)}"), HarnTask))

    def wait(self, task_id: str, timeout: float = 60.0) -> Plan[HarnTask]:
        """The Task, once it has ended."""
        end = time.monotonic() + timeout
        while True:
            task = yield from self.get_task(task_id)
            if task.is_over:
                return task
            if time.monotonic() > end:
                raise TimedOut(f"{task_id} is still {task.status}", code="TIMED_OUT", recoverable=True)
            yield Sleep(POLL_S)

    def cancel(self, task_id: str, reason: str | None = None) -> Plan[HarnTask]:
        """Cancels a Task."""
        request = harn("POST", f"/v1/tasks/{segment(task_id)}/cancel", present(reason=reason))
        return (yield from self.link.ask(request, HarnTask))

    def events(self, task_id: str, after: str | None = None, limit: int = 200) -> Plan[list[TaskEvent]]:
        """The Events of a Task behind one of them."""
        query = urlencode(present(after_event_id=after, limit=limit))
        page = yield from self.link.ask(harn("GET", f"/v1/tasks/{segment(task_id)}/events?{query}"), Page)
        return [TaskEvent.model_validate(event) for event in page.data]

    def outcome(self, task_id: str) -> Plan[Outcome]:
        """What came of a Task."""
        return (yield from outcome_of(self.link, task_id, None))

    def receipt(self, task_id: str) -> Plan[Receipt]:
        """The receipt of a Task."""
        return (yield from receipt_of(self.link, task_id, None))

    def verify(self, receipt_id: str) -> Plan[Verification]:
        """Has the server check a receipt. `quipu.receipts.verify` does it offline."""
        request = harn("POST", f"/v1/receipts/{segment(receipt_id)}/verify", {})
        return (yield from self.link.ask(request, Verification))

    def divergence(self, replay_task_id: str) -> Plan[Divergence]:
        """A replay beside its source."""
        return (yield from self.link.ask(harn("GET", f"/v1/tasks/{segment(replay_task_id)}/divergence"), Divergence))

    def replay(
        self,
        task_id: str,
        *,
        overrides: Mapping[str, Any] | None = None,
        mode: Literal["exact", "with_overrides", "from_checkpoint"] | None = None,
        executor: Literal["worker", "in_process"] = "worker",
        checkpoint_id: str | None = None,
        reason: str | None = None,
        strict: bool = False,
        agent: str | None = None,
    ) -> Plan[HarnTask]:
        """Makes a replay Task of one that has ended. By `worker` it waits for `run_replay` or `replaying`; `in_process`
        the server derives it from its log. An override is the answer itself, or an `Override`. A `strict` one fails at
        the first thing that it does otherwise."""
        chosen = mode or ("from_checkpoint" if checkpoint_id else "with_overrides" if overrides else "exact")
        body = present(
            mode=chosen,
            override=overrides_body(overrides) if overrides else None,
            checkpoint_id=checkpoint_id,
            reason=reason,
            metadata={"executor": executor, **({"strict": True} if strict else {})},
        )
        request = harn("POST", f"/v1/tasks/{segment(task_id)}/replay", body, agent=agent)
        return (yield from self.link.ask(request, HarnTask))

    def persona(self, name: str) -> Plan[str]:
        """The id of the Persona of this name, made where there is none; an id is itself."""
        if name.startswith("persona_"):
            return name
        if name not in self._personas:
            try:
                known = yield from self._find_persona(name)
            except NotFound:
                known = None  # a new Field: its first write makes it
            try:
                found = known or (yield from self._make_persona(name))
            except PermissionDenied:
                # Making one takes authority 8. The built-in one is there for everybody's work.
                found = WORKER
            with self._lock:
                self._personas[name] = found
        return self._personas[name]

    def _find_persona(self, name: str) -> Plan[str | None]:
        cursor: str | None = None
        while True:
            query = urlencode(present(limit=200, cursor=cursor))
            page = yield from self.link.ask(harn("GET", f"/v1/personas?{query}"), Page)
            for persona in page.data:
                if persona.get("name") == name:
                    return str(persona["id"])
            cursor = page.next_cursor
            if cursor is None:
                return None

    def _make_persona(self, name: str) -> Plan[str]:
        body = {
            "name": name,
            "version": "1",
            "entry_workflow": "python",
            "description": "Work that is recorded by the Python SDK",
            "autonomy_tier": "act_auto",
            "receipt_policy": "required",
        }
        # The same key for all who begin at once: one of them makes it.
        key = f"quipu-python-persona-{name.encode().hex()}"[:255]
        return (yield from self.link.ask(harn("POST", "/v1/personas", body, key=key), Persona)).id

    def submit(
        self,
        title: str,
        *,
        input: Any = None,
        agent: str | None = None,
        persona: str = PERSONA,
        session: str = SESSION,
        metadata: Mapping[str, Any] | None = None,
        queue: str | None = None,
        retry: Mapping[str, Any] | None = None,
    ) -> Plan[HarnTask]:
        """A new Task that somebody else works on: whoever claims it from its queue. `retry` has `max_attempts`, and may
        have `backoff_ms`, `backoff_factor` and `max_backoff_ms`."""
        persona_id = yield from self.persona(persona)
        more = {**(metadata or {}), **present(queue=queue, retry=retry)}
        body = present(
            session_id=session,
            persona_id=persona_id,
            input=title if input is None else input,
            metadata=more or None,
        )
        return (yield from self.link.ask(harn("POST", "/v1/tasks", body, agent=agent), HarnTask))

    def tasks(
        self,
        *,
        status: str | None = None,
        queue: str | None = None,
        parent_task_id: str | None = None,
        dead_letter: bool | None = None,
        limit: int = 200,
    ) -> Plan[list[HarnTask]]:
        """Tasks, the oldest first. With `dead_letter` those that were tried as often as they may be."""
        dead = None if dead_letter is None else str(dead_letter).lower()
        wanted = present(status=status, queue=queue, parent_task_id=parent_task_id, dead_letter=dead, limit=limit)
        page = yield from self.link.ask(harn("GET", f"/v1/tasks?{urlencode(wanted)}"), Page)
        return [HarnTask.model_validate(task) for task in page.data]

    def claim_next(
        self,
        *,
        queue: str | None,
        persona: str | None,
        session: str | None,
        agent: str | None,
        lease: float,
        wait: float,
    ) -> Plan[HarnTask | None]:
        """The next Task that is due, claimed for this worker; None where there is none."""
        persona_id = None if persona is None else (yield from self.persona(persona))
        body = present(
            queue=queue,
            persona_id=persona_id,
            filter=present(session_id=session) or None,
            lease_ms=max(1, int(lease * 1000)),
            wait_ms=int(wait * 1000),
            agent_id=agent,
        )
        request = harn("POST", "/v1/tasks/claim", body)
        reply = yield from self.link.send(request)
        return read_model(reply, HarnTask, request.operation) if reply.content else None

    def claimed_run(self, task: HarnTask, *, agent: str | None, lease: float) -> RunCore:
        """A run that goes on with a Task which this worker has claimed."""

        def submit() -> Plan[HarnTask]:
            return task
            yield  # a plan, though it asks nobody

        return RunCore(self.link, submit, title="", agent=agent, lease=lease, replays=None, goes_on=True, claimed=True)

    def resumed_run(self, task_id: str, *, agent: str | None, lease: float, wait: float) -> RunCore:
        """A run that goes on with a Task."""

        def submit() -> Plan[HarnTask]:
            return (yield from self.get_task(task_id))

        return RunCore(self.link, submit, title="", agent=agent, lease=lease, replays=None, goes_on=True, wait=wait)

    def ended_run(self, task: HarnTask, agent: str | None) -> Plan[RunCore]:
        """A run that was over before: its Task, and what came of it."""
        core = self.claimed_run(task, agent=agent, lease=LEASE_S)
        core.task, core.replays = task, task.is_replay
        core.result = (yield from outcome_of(self.link, task.id, agent)).output
        return core

    def new_run(
        self,
        title: str,
        *,
        input: Any = None,
        agent: str | None = None,
        persona: str = PERSONA,
        session: str = SESSION,
        metadata: Mapping[str, Any] | None = None,
        lease: float = LEASE_S,
    ) -> RunCore:
        """A run that records a new Task."""

        def submit() -> Plan[HarnTask]:
            given: dict[str, Any] = {"persona": persona, "session": session, "metadata": metadata}
            return (yield from self.submit(title, input=input, agent=agent, **given))

        return RunCore(self.link, submit, title=title, agent=agent, lease=lease, replays=False)

    def replay_run(self, replay_task_id: str, *, agent: str | None = None, lease: float = LEASE_S) -> RunCore:
        """A run that works on a replay Task."""

        def submit() -> Plan[HarnTask]:
            return (yield from self.get_task(replay_task_id))

        return RunCore(self.link, submit, title="", agent=agent, lease=lease, replays=True)
