"""`record`: an agent of the OpenAI Agents SDK with its model and its tools recorded. `QuipuSession`: the history of a
conversation, as the transcript of a Session. Needs `quipu[openai-agents]`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from agents.memory import SessionABC, SessionSettings

from .._exact import exact, restored
from .._plans import Page, Plan
from .._wire import harn, present, segment
from ..errors import NotFound
from ._agent_tools import record
from ._asked import asked, is_replaying, written_once
from ._either import Either
from ._sessions import enter

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from ..field import AsyncField, Field

__all__ = ["QuipuSession", "record"]

_PAGE = 200
_ROLES = frozenset({"user", "assistant", "system"})


class QuipuSession(SessionABC):
    """A conversation that survives restarts and that a human can read in the console. Each item is a Message of the
    Session; what is popped or cleared leaves the transcript and stays in the log. One process writes at a time.

    What is read in a run is recorded there, and a replay is told the same and writes nothing."""

    def __init__(
        self,
        session_id: str,
        field: Field | AsyncField,
        *,
        agent: str = "openai-agents",
        role: str = "assistant",
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._field = Either(field)
        self._agent = self._field.agent(agent, role)
        self._path = f"/v1/sessions/{segment(session_id)}"
        self._entered = False

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history, the oldest first; with a limit, only the newest so many."""
        wanted = self.session_settings.limit if limit is None and self.session_settings else limit
        items: list[TResponseInputItem] = await self._field.awaiting(self._asked("get_items", self._items))
        return items if wanted is None else items[len(items) - wanted if wanted < len(items) else 0 :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds to the end of the history."""
        if not is_replaying():
            await self._field.awaiting(self._add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the newest item away."""
        return await self._field.awaiting(self._asked("pop_item", self._pop))

    async def clear_session(self) -> None:
        """Takes all of them away."""
        if not is_replaying():
            await self._field.awaiting(self._keep_first(0, "cleared"))

    def _asked(self, what: str, live: Callable[[], Plan[Any]]) -> Plan[Any]:
        question = {"session_id": self.session_id, "ask": what}
        return (yield from asked(self._agent.link, "session", question, live, encode=_same, decode=_same))

    def _items(self) -> Plan[list[Any]]:
        found: list[Any] = []
        cursor: str | None = None
        while True:
            query = urlencode(present(limit=_PAGE, cursor=cursor))
            try:
                page = yield from self._ask(harn("GET", f"{self._path}/messages?{query}", agent=self._agent.id))
            except NotFound:
                return found
            found += [_item(message) for message in page.data]
            cursor = page.next_cursor
            if cursor is None:
                return found

    def _ask(self, request: Any) -> Plan[Page]:
        return (yield from self._agent.link.ask(request, Page))

    def _add(self, items: list[Any]) -> Plan[None]:
        if items:
            yield from self._enter()
        for item in items:
            body = {"message": {"role": _role(item), "parts": [{"type": "json", "value": exact(item)}]}}
            once = written_once("message", self.session_id, json.dumps(body))
            request = harn("POST", f"{self._path}/messages", body, agent=self._agent.id, key=once)
            yield from self._agent.link.send(request)

    def _pop(self) -> Plan[Any]:
        items = yield from self._items()
        if not items:
            return None
        yield from self._keep_first(len(items) - 1, "popped")
        return items[-1]

    def _keep_first(self, count: int, reason: str) -> Plan[None]:
        body = {"keep_first": count, "reason": reason}
        once = written_once("truncate", self.session_id, json.dumps(body))
        request = harn("POST", f"{self._path}/truncate", body, agent=self._agent.id, key=once)
        try:
            yield from self._agent.link.send(request)
        except NotFound:
            # There is nothing to take away.
            return

    def _enter(self) -> Plan[None]:
        if self._entered:
            return
        yield from enter(self._agent, self.session_id, f"Conversation {self.session_id}")
        self._entered = True


def _same(value: Any) -> Any:
    return value


def _role(item: Mapping[str, Any]) -> str:
    role = item.get("role")
    if role in _ROLES:
        return str(role)
    if str(item.get("type", "")).endswith("_output"):
        return "tool"
    # What the SDK calls `developer` sets the rules; all else comes from the model.
    return "system" if role == "developer" else "assistant"


def _item(message: Mapping[str, Any]) -> Any:
    for part in message["parts"]:
        if part["type"] == "json":
            return restored(part["value"])
    # Somebody else said something in the Session.
    text = "\n".join(part["text"] for part in message["parts"] if part["type"] == "text")
    role = message["role"]
    return {"role": role if role in _ROLES else "user", "content": text}
