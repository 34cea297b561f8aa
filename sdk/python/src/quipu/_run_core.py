"""A run of a Task as plans: recording what it is told from outside, or replaying it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from pydantic import TypeAdapter

from ._answers import Keys, Kind, Visibility, failure_value, message_of, raise_recorded
from ._link import Link
from ._plans import Live, Plan
from ._wire import harn, jsonable, present, read_json, segment
from .errors import NotFound, QuipuError, ReplayUnavailable
from .models import Artifact, Dependency, Divergence, HarnTask, Outcome, Receipt, Resolved, TaskEvent

LEASE_S = 600.0
_TIME = TypeAdapter(datetime)


def same(value: Any) -> Any:
    """The value as it is."""
    return value


class RunCore:
    """One Task that is worked on. `replays` says whether its answers come from a recording."""

    def __init__(
        self,
        link: Link,
        submit: Callable[[], Plan[HarnTask]],
        *,
        title: str,
        agent: str | None,
        lease: float,
        replays: bool,
    ) -> None:
        self.link = link
        self.title = title
        self.agent = agent
        self.replays = replays
        self.result: Any = None
        self.summary: str | None = None
        self.drift: list[str] = []
        self.task: HarnTask | None = None
        self._submit = submit
        self._lease = lease
        self._keys = Keys()
        self._secrets: dict[str, Any] = {}
        # Answers that come in pieces and have not ended, by key: how each is recorded as far as it came.
        self.unended: dict[str, Callable[[], Plan[None]]] = {}

    @property
    def id(self) -> str:
        """The Task's id, once it was begun."""
        if self.task is None:
            raise RuntimeError("the run has not begun: use `with`")
        return self.task.id

    @property
    def secrets(self) -> list[Any]:
        """The secrets that the run was given, which no message may hold."""
        return list(self._secrets.values())

    def _path(self, rest: str = "") -> str:
        return f"/v1/tasks/{segment(self.id)}{rest}"

    def _post(self, rest: str, body: dict[str, Any]) -> Any:
        return harn("POST", self._path(rest), body, agent=self.agent)

    def begin(self) -> Plan[None]:
        """Submits the Task where it is new, and claims it."""
        if self.task is not None:
            raise RuntimeError("the run has begun already: each block needs a run of its own")
        self.task = yield from self._submit()
        if self.replays and not self.title:
            self.title = f"replay of {self.task.parent_task_id}"
        body = present(lease_ms=int(self._lease * 1000), agent_id=self.agent)
        self.task = yield from self.link.ask(self._post("/claim", body), HarnTask)

    def complete(self) -> Plan[None]:
        """The Task is done; its receipt can be read afterwards."""
        yield from self._end_answers()
        body = {"summary": self.summary or self.title, "output": jsonable(self.result)}
        self.task = yield from self.link.ask(self._post("/complete", body), HarnTask)

    def fail(self, error: BaseException) -> Plan[None]:
        """The Task is given up, for this reason."""
        if self.replays and isinstance(error, ReplayUnavailable):
            # The server has ended it already, unless this is about another replay within the block.
            self.task = yield from self.link.ask(harn("GET", self._path(), agent=self.agent), HarnTask)
            if self.task.is_over:
                return
        with suppress(QuipuError):  # the Task must end, whatever is wrong with an answer
            yield from self._end_answers()
        code = type(error).__name__
        body = {"code": code, "message": message_of(error, self.secrets) or code}
        self.task = yield from self.link.ask(self._post("/fail", body), HarnTask)

    def _end_answers(self) -> Plan[None]:
        for end in list(self.unended.values()):
            yield from end()

    def next_key(self, stem: str, separator: str = ":") -> str:
        """The key of the next question of this stem: `llm:main` gives `llm:main:1`, then `llm:main:2`."""
        return f"{stem}{separator}{self._keys.next(stem)}"

    def answer(
        self,
        key: str,
        kind: Kind,
        call: Callable[[], Any],
        request: Any = None,
        *,
        encode: Callable[[Any], Any] = same,
        decode: Callable[[Any], Any] = same,
        visibility: Visibility | None = None,
    ) -> Plan[Any]:
        """The answer to one question. Live it is `call()`, recorded under `key`; in a replay, what was recorded.

        Both go through JSON, so that the run is told the same both times: `encode` makes plain JSON of a live
        answer, `decode` makes of that what is returned."""
        question = jsonable(request)
        if self.replays:
            value = yield from self.resolve(key, question)
            raise_recorded(value)
            return decode(value)
        try:
            live = yield Live(call)
        except Exception as error:
            yield from self.keep(key, kind, failure_value(error, self.secrets), question, visibility=visibility)
            raise
        value = jsonable(encode(live))
        yield from self.keep(key, kind, value, question, visibility=visibility)
        return decode(value)

    def keep(
        self, key: str, kind: Kind, value: Any, request: Any = None, *, visibility: Visibility | None = None
    ) -> Plan[Dependency]:
        """Records one answer under its key."""
        body = present(key=key, kind=kind, request=request, visibility=visibility)
        return (yield from self.link.ask(self._post("/dependencies", {**body, "value": value}), Dependency))

    def resolve(self, key: str, request: Any = None) -> Plan[Any]:
        """What a replay is told under this key. Keys that were asked otherwise than recorded are in `drift`."""
        body = present(key=key, request=request)
        found = yield from self.link.ask(self._post("/dependencies/resolve", body), Resolved)
        if found.divergent and key not in self.drift:
            self.drift.append(key)
        if found.artifact_id is None or "value" in found.model_fields_set:
            return found.value
        content = harn("GET", f"/v1/artifacts/{segment(found.artifact_id)}/content", agent=self.agent)
        reply = yield from self.link.send(content)
        return read_json(reply, content.operation)

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
        key = self.next_key(f"llm:{name}")
        kept: dict[str, Any] = {"encode": encode, "decode": decode, "visibility": visibility}
        return (yield from self.answer(key, "llm_provider_response", lambda: call(request), request, **kept))

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
        key = self.next_key(f"mcp:{server}:{name}", "-")
        kept: dict[str, Any] = {"encode": encode, "decode": decode, "visibility": visibility}
        return (yield from self.answer(key, "mcp_tool_return", lambda: call(**given), given, **kept))

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
        key = self.next_key(f"host:{name}")
        kept: dict[str, Any] = {"encode": encode, "decode": decode, "visibility": visibility}
        return (yield from self.answer(key, "host_fact", call, request, **kept))

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
        return (yield from self.link.ask(self._post("/events", body), TaskEvent))

    def checkpoint(self, label: str, state: Any = None) -> Plan[Artifact | None]:
        """Records a boundary that a replay may begin from. A replay makes none."""
        if self.replays:
            return None
        body = present(label=label, state=jsonable(state))
        return (yield from self.link.ask(self._post("/checkpoints", body), Artifact))

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
    return Outcome.model_validate(_last(page, f"there is no outcome of {task_id} yet"))


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
