"""The answers of a run as plans: recorded live, recalled where another worker recorded them, resolved in a replay."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from ._answers import Kind, Visibility
from ._exact import MARK, as_question, exact, restored
from ._failures import failure_value, has_failed, raise_recorded
from ._large import LARGEST, kept_apart, read_again
from ._link import Link
from ._plans import Live, Page, Plan
from ._recording import Keys, digest_of
from ._wire import Request, encode, harn, present, segment, stable_id
from .errors import Conflicted, InvalidRequest, NotFound, PermissionDenied, QuipuError
from .models import Dependency, HarnTask, Resolved

_PAGE = 200


def same(value: Any) -> Any:
    """The value as it is."""
    return value


class Answering:
    """A Task whose questions are answered. `replays` says whether only a recording answers."""

    def __init__(self, link: Link, agent: str | None, *, replays: bool) -> None:
        self.link = link
        self.agent = agent
        self.replays = replays
        self.resumes = False
        self.drift: list[str] = []
        self.task: HarnTask | None = None
        # Why nothing more may be asked: somebody else works on the Task.
        self.lost: QuipuError | None = None
        self._keys = Keys()
        self._source_is_read = False
        self._secrets: dict[str, Any] = {}

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

    def _post(self, rest: str, body: dict[str, Any], key: str | None = None) -> Request:
        return harn("POST", self._path(rest), body, agent=self.agent, key=key)

    def idempotency_key(self, key: str) -> str:
        """What names the call under this key to whom it asks, in every process that makes it."""
        return stable_id(self.id, key)

    def next_key(self, stem: str, separator: str = ":") -> str:
        """The key of the next question of this stem: `llm:main` gives `llm:main:1`, then `llm:main:2`."""
        return f"{stem}{separator}{self._keys.next(stem + separator)}"

    def recorded(self, key: str) -> Dependency | None:
        """What an earlier worker recorded under this key, or the source of a replay."""
        return self._keys.recorded(key)

    def key_of(self, stem: str, question: Any, separator: str = ":") -> Plan[tuple[str, Dependency | None]]:
        """The key of a question, and what an earlier worker recorded of it."""
        stem += separator
        if not (self.replays or self.resumes):
            return f"{stem}{self._keys.next(stem)}", None
        # The place is taken before anything is waited for: it is that of the call.
        place = self._keys.arrive(stem)
        yield from self._read_source()
        digest = digest_of(_short(question))
        number, found = self._keys.matching(stem, place, digest, replays=self.replays)
        return f"{stem}{number}", found

    def recalled(self, key: str, found: Dependency | None, question: Any) -> Plan[tuple[bool, Any]]:
        """Whether there is an answer already, and what was recorded. Whoever asks live afterwards may do so."""
        if self.replays:
            return True, (yield from self._resolved(key, question))
        if found is not None and found.withheld is None:
            return True, (yield from read_again(self.link, found.value, found.artifact_id, self.agent))
        if self.lost is not None:
            raise self.lost
        return False, None

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
        question = as_question(request)
        found = self._keys.recorded(key) if self.resumes else None
        if found is not None and not _asks(found, question) and key not in self.drift:
            self.drift.append(key)
        kept: dict[str, Any] = {"encode": encode, "decode": decode, "visibility": visibility}
        return (yield from self.answered(key, found, kind, call, question, **kept))

    def answered(
        self,
        key: str,
        found: Dependency | None,
        kind: Kind,
        call: Callable[[], Any],
        question: Any,
        *,
        encode: Callable[[Any], Any] = same,
        decode: Callable[[Any], Any] = same,
        visibility: Visibility | None = None,
    ) -> Plan[Any]:
        """The answer to a question whose key is known."""
        there, value = yield from self.recalled(key, found, question)
        if there:
            raise_recorded(value)
            return decode(restored(value))
        try:
            live = yield Live(call, self.idempotency_key(key))
        except Exception as error:
            value = failure_value(error, self.secrets)
            yield from self._keep_once(found, key, kind, value, question, visibility=visibility)
            raise
        value = exact(encode(live))
        yield from self._keep_once(found, key, kind, value, question, visibility=visibility)
        return decode(restored(value))

    def _keep_once(self, found: Dependency | None, *said: Any, visibility: Visibility | None) -> Plan[None]:
        if found is None:
            yield from self._kept(*said, visibility=visibility)
            return
        # It was recorded and is withheld. Perhaps it is another one now: then the first one stays.
        with suppress(Conflicted):
            yield from self._kept(*said, visibility=visibility)

    def keep(
        self, key: str, kind: Kind, value: Any, request: Any = None, *, visibility: Visibility | None = None
    ) -> Plan[Dependency]:
        """Records one answer under its key."""
        written = exact(value, escape=False)
        return (yield from self._kept(key, kind, written, as_question(request), visibility=visibility))

    def _kept(
        self, key: str, kind: Kind, written: Any, question: Any, *, visibility: Visibility | None
    ) -> Plan[Dependency]:
        question = _short(question)
        body = {**present(key=key, kind=kind, request=question, visibility=visibility), "value": written}
        asked = self._post("/dependencies", body)
        if len(asked.content or b"") > LARGEST and kind != "secret_value":
            del body["value"]
            apart = yield from kept_apart(self.link, written, self.id, visibility, self.agent)
            asked = self._post("/dependencies", {**body, **apart})
        return (yield from self.link.ask(asked, Dependency))

    def resolve(self, key: str, request: Any = None) -> Plan[Any]:
        """What a replay is told under this key. Keys that were asked otherwise than recorded are in `drift`."""
        return restored((yield from self._resolved(key, as_question(request))))

    def _resolved(self, key: str, question: Any) -> Plan[Any]:
        body = present(key=key, request=_short(question))
        found = yield from self.link.ask(self._post("/dependencies/resolve", body), Resolved)
        if found.divergent and key not in self.drift:
            self.drift.append(key)
        apart = None if "value" in found.model_fields_set else found.artifact_id
        return (yield from read_again(self.link, found.value, apart, self.agent))

    def _recall(self) -> Plan[None]:
        """Reads what earlier workers recorded."""
        found = yield from self._listed(self.id)
        state = self.task.metadata.get("retry_state") if self.task is not None else None
        if isinstance(state, dict) and state.get("failed_attempts"):
            # Another attempt is made because something failed: that is asked again.
            for answer in found:
                answer.withheld = "failed" if has_failed(answer.value) else answer.withheld
        self._keys.know(found)
        self.resumes = bool(found)

    def _read_source(self) -> Plan[None]:
        """Reads what the source of a replay asked, without its answers. Who may not see it is told in its order."""
        source = self.task.parent_task_id if self.task is not None else None
        if not self.replays or self._source_is_read or source is None:
            return
        with suppress(InvalidRequest, NotFound, PermissionDenied):
            found = yield from self._listed(source, values="false")
            if not self._source_is_read:
                self._keys.know(found)
        self._source_is_read = True

    def _listed(self, task_id: str, **query: str) -> Plan[list[Dependency]]:
        found: list[Dependency] = []
        after: str | None = None
        while True:
            asked = urlencode({**present(limit=_PAGE, after_key=after), **query})
            path = f"/v1/tasks/{segment(task_id)}/dependencies?{asked}"
            page = yield from self.link.ask(harn("GET", path, agent=self.agent), Page)
            found += [Dependency.model_validate(row) for row in page.data]
            if not page.data or page.next_cursor is None:
                return found
            after = found[-1].key


def _asks(found: Dependency, question: Any) -> bool:
    return (found.request_sha256 or "").removeprefix("sha256:") == (digest_of(_short(question)) or "")


def _short(question: Any) -> Any:
    """The question as it is sent: only its digest is kept, so that of a very large one nothing else is needed."""
    if question is None or len(encode(question)) <= LARGEST // 2:
        return question
    return {MARK: "digest", "sha256": digest_of(question)}
