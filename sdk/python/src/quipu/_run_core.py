"""A run of a Task as plans: recording what it is told from outside, or replaying it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from pydantic import TypeAdapter

from ._answering import Answering, same
from ._answers import Kind, Visibility
from ._exact import MARK, as_output, as_question, exact
from ._failures import message_of
from ._large import LARGEST, kept_apart, read_again
from ._link import Link
from ._plans import Patience, Plan, Sleep, send
from ._wire import encode as encode_json
from ._wire import harn, present, segment, stable_id
from .errors import Conflicted, NotFound, PermissionDenied, QuipuError, ReplayDrifted, ReplayUnavailable
from .models import Artifact, Divergence, HarnTask, Outcome, Receipt, TaskEvent

# Heartbeats renew it; without one, somebody else may go on so long after the last sign of life.
LEASE_S = 60.0
_POLL_S = 0.1
_TIME = TypeAdapter(datetime)


class RunCore(Answering):
    """One Task that is worked on. `replays` says whether its answers come from a recording; None: its Task says so."""

    def __init__(
        self,
        link: Link,
        submit: Callable[[], Plan[HarnTask]],
        *,
        title: str,
        agent: str | None,
        lease: float,
        replays: bool | None,
        goes_on: bool = False,
        wait: float = 0.0,
        tells_once: bool = True,
        claimed: bool = False,
    ) -> None:
        super().__init__(link, agent, replays=bool(replays))
        self.title = title
        self.result: Any = None
        self.summary: str | None = None
        self.lease = lease
        self._submit = submit
        self._is_told_by_task = replays is None
        self._goes_on = goes_on
        self._wait = wait
        self._is_claimed = claimed
        # Which exceptions another attempt may cure, where the Task may be tried again.
        self.retries: tuple[type[BaseException], ...] = ()
        # Whoever keeps a Task over several processes tells the same more than once, and means it.
        self._tells_once = tells_once
        self._told: dict[str, int] = {}
        # Whether another worker is to go on.
        self.is_left = False
        # Answers that come in pieces and have not ended, by key: how each is recorded as far as it came.
        self.unended: dict[str, Callable[[], Plan[None]]] = {}

    def begin(self) -> Plan[None]:
        """Submits the Task where it is new, claims it, and reads what an earlier worker recorded."""
        if self.task is not None:
            raise RuntimeError("the run has begun already: each block needs a run of its own")
        self.task = yield from self._submit()
        if self._is_told_by_task:
            self.replays = self.task.is_replay
        if not self.title:
            self.title = f"replay of {self.task.parent_task_id}" if self.replays else self.task.text or self.task.id
        if not self._is_claimed:
            self.task = yield from self._claimed()
        if self._goes_on and not self.replays:
            yield from self._recall()

    def _claimed(self) -> Plan[HarnTask]:
        end = time.monotonic() + self._wait
        while True:
            try:
                return (yield from self.link.ask(self._post("/claim", self._leased()), HarnTask))
            except Conflicted as held:
                if held.code != "resource_locked" or time.monotonic() > end:
                    raise
            yield Sleep(_POLL_S)

    def _leased(self) -> dict[str, Any]:
        return present(lease_ms=max(1, int(self.lease * 1000)), agent_id=self.agent)

    def heartbeat(self) -> Plan[None]:
        """A sign of life. Where the Task is no longer this worker's, nothing is asked any more."""
        patience = Patience(self.lease / 3)
        try:
            try:
                yield from send(self._post("/heartbeat", self._leased()), patience)
            except NotFound:
                # A server that knows no heartbeats: claiming again does the same.
                yield from send(self._post("/claim", self._leased()), patience)
        except (Conflicted, NotFound, PermissionDenied) as lost:
            self.lost = lost

    def complete(self) -> Plan[None]:
        """The Task is done; its receipt can be read afterwards."""
        yield from self._end_answers()
        body = {"summary": self.summary or self.title, "output": as_output(self.result)}
        asked = self._post("/complete", body)
        if len(asked.content or b"") > LARGEST:
            apart = yield from kept_apart(self.link, body["output"], self.id, "public", self.agent)
            body["output"] = apart.get("value") or {MARK: "apart", **apart}
            body["artifacts"] = body["output"].get("artifacts") or [body["output"]["artifact_id"]]
            asked = self._post("/complete", body)
        self.task = yield from self.link.ask(asked, HarnTask)

    def fail(self, error: BaseException) -> Plan[None]:
        """The Task is given up, for this reason."""
        if self.replays and isinstance(error, ReplayUnavailable | ReplayDrifted):
            # The server has ended it already, unless this is about another replay within the block.
            self.task = yield from self.link.ask(harn("GET", self._path(), agent=self.agent), HarnTask)
            if self.task.is_over:
                return
        with suppress(QuipuError):  # the Task must end, whatever is wrong with an answer
            yield from self._end_answers()
        code = type(error).__name__
        body: dict[str, Any] = {"code": code, "message": message_of(error, self.secrets) or code}
        if isinstance(error, self.retries):
            body["retryable"] = True
        self.task = yield from self.link.ask(self._post("/fail", body), HarnTask)

    def _end_answers(self) -> Plan[None]:
        for end in list(self.unended.values()):
            yield from end()

    def llm(
        self,
        name: str,
        call: Callable[[Any], Any],
        request: Any,
        *,
        encode: Callable[[Any], Any] = same,
        decode: Callable[[Any], Any] = same,
        visibility: Visibility | None = None,
    ) -> Plan[Any]:
        """`call(request)`, the answer of a model, under `llm:<name>:<n>`."""
        kept: dict[str, Any] = {"encode": encode, "decode": decode, "visibility": visibility}
        question = as_question(request)
        key, found = yield from self.key_of(f"llm:{name}", question)
        kind: Kind = "llm_provider_response"
        return (yield from self.answered(key, found, kind, lambda: call(request), question, **kept))

    def tool(
        self,
        server: str,
        name: str,
        call: Callable[..., Any],
        args: Mapping[str, Any] | None = None,
        *,
        encode: Callable[[Any], Any] = same,
        decode: Callable[[Any], Any] = same,
        visibility: Visibility | None = None,
    ) -> Plan[Any]:
        """`call(**args)`, the answer of a tool, under `mcp:<server>:<name>-<n>`."""
        given = dict(args or {})
        kept: dict[str, Any] = {"encode": encode, "decode": decode, "visibility": visibility}
        question = as_question(given)
        key, found = yield from self.key_of(f"mcp:{server}:{name}", question, "-")
        return (yield from self.answered(key, found, "mcp_tool_return", lambda: call(**given), question, **kept))

    def host(
        self,
        name: str,
        call: Callable[[], Any],
        request: Any = None,
        *,
        encode: Callable[[Any], Any] = same,
        decode: Callable[[Any], Any] = same,
        visibility: Visibility | None = None,
    ) -> Plan[Any]:
        """`call()`, anything else that the run is told from outside, under `host:<name>:<n>`."""
        kept: dict[str, Any] = {"encode": encode, "decode": decode, "visibility": visibility}
        question = as_question(request)
        key, found = yield from self.key_of(f"host:{name}", question)
        return (yield from self.answered(key, found, "host_fact", call, question, **kept))

    def now(self, label: str) -> Plan[datetime]:
        """The time, to the millisecond, under `time:<label>`; from the second reading on `time:<label>:<n>`."""
        count = self._keys.next(f"time:{label}")
        key = f"time:{label}" if count == 1 else f"time:{label}:{count}"
        read: datetime = yield from self.answer(key, "time", _clock, encode=_written, decode=_TIME.validate_python)
        return read

    def secret(self, name: str, call: Callable[[], Any] | None = None) -> Plan[Any]:
        """A secret under `secret:<name>`: `call()`, or the environment variable of this name. Only a keyed hash of it
        is recorded; a replay is given it by an override or a vault. It is asked for once in a run."""
        if name not in self._secrets:
            found = yield from self.answer(f"secret:{name}", "secret_value", call or _variable(name))
            self._secrets[name] = found
        return self._secrets[name]

    def event(self, event: str, payload: Mapping[str, Any] | None = None) -> Plan[TaskEvent | None]:
        """Appends an `agent.`, `span.`, `tool.` or `vendor.` Event. A replay tells nothing of its own."""
        if self.replays:
            return None
        body = present(event=event, payload=payload)
        asked = self._post("/events", body, self.once(event, body))
        return (yield from self.link.ask(asked, TaskEvent))

    def checkpoint(self, label: str, state: Any = None) -> Plan[Artifact | None]:
        """Records a boundary that a replay may begin from. A replay makes none."""
        if self.replays:
            return None
        body = present(label=label, state=exact(state))
        asked = self._post("/checkpoints", body, self.once(f"checkpoint {label}", body))
        return (yield from self.link.ask(asked, Artifact))

    def once(self, what: str, body: Any) -> str | None:
        """The key by which a run that goes on tells nothing twice."""
        if not self._tells_once:
            return None
        said = stable_id(self.id, what, encode_json(body).decode())
        self._told[said] = self._told.get(said, 0) + 1
        return stable_id(said, str(self._told[said]))

    def receipt(self) -> Plan[Receipt]:
        """The receipt of the Task, once it has ended."""
        return (yield from receipt_of(self.link, self.id, self.agent))

    def outcome(self) -> Plan[Outcome]:
        """What came of the Task, once it has ended."""
        return (yield from outcome_of(self.link, self.id, self.agent))

    def divergence(self) -> Plan[Divergence]:
        """A replay beside its source, once it has ended."""
        return (yield from self.link.ask(harn("GET", self._path("/divergence"), agent=self.agent), Divergence))


def receipt_of(link: Link, task_id: str, agent: str | None) -> Plan[Receipt]:
    """The last receipt of a Task."""
    page = yield from link.ask_json(harn("GET", f"/v1/tasks/{segment(task_id)}/receipts", agent=agent))
    return Receipt.model_validate(_last(page, f"there is no receipt of {task_id} yet"))


def outcome_of(link: Link, task_id: str, agent: str | None) -> Plan[Outcome]:
    """The last Outcome of a Task."""
    page = yield from link.ask_json(harn("GET", f"/v1/outcomes?task_id={segment(task_id)}", agent=agent))
    outcome = Outcome.model_validate(_last(page, f"there is no outcome of {task_id} yet"))
    output = outcome.metadata.get("output")
    if isinstance(output, dict) and output.get(MARK) in {"apart", "pieces"}:
        outcome.metadata["output"] = yield from read_again(link, output, output.get("artifact_id"), agent)
    return outcome


def _last(page: Any, otherwise: str) -> Any:
    data = page.get("data") if isinstance(page, dict) else None
    if not data:
        raise NotFound(otherwise, code="resource_not_found", recoverable=True, status=404)
    return data[-1]


def _clock() -> datetime:
    return datetime.now(timezone.utc)


def _written(time: datetime) -> str:
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _variable(name: str) -> Callable[[], str]:
    def read() -> str:
        if name not in os.environ:
            raise LookupError(f"there is no environment variable {name}; give `secret` a function that has it")
        return os.environ[name]

    return read
