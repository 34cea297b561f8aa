"""What tools of LangChain return, as JSON and made again: messages, commands to the graph, and interrupts."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage, message_to_dict, messages_from_dict
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, Interrupt, Send
from typing_extensions import Self

from ..._exact import exact
from ...errors import InvalidRequest

_MARK = "$langchain"


class Interrupted:
    """A block in which a tool may ask a human: that it did is its answer, and its `value`."""

    value: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if not isinstance(error, GraphInterrupt):
            return False
        asked = error.args[0] if error.args else ()
        found = [{"value": kept(it.value), "id": it.id} for it in asked]
        self.value = {_MARK: "interrupt", "interrupts": found}
        return True


def kept(value: Any) -> Any:
    """As it is recorded."""
    if isinstance(value, BaseMessage):
        return _message(value)
    if isinstance(value, Command):
        members = {"update": value.update, "goto": value.goto, "resume": value.resume, "graph": value.graph}
        return {_MARK: "command", **{name: kept(it) for name, it in members.items()}}
    if isinstance(value, Send):
        return {_MARK: "send", "node": value.node, "arg": kept(value.arg)}
    if isinstance(value, list | tuple):
        return [kept(item) for item in value]
    if isinstance(value, dict):
        return {name: kept(item) for name, item in value.items()}
    return value


def read_again(value: Any, call_id: str | None) -> Any:
    """What was recorded, for the call with this id; an interrupt interrupts."""
    if isinstance(value, list):
        return [read_again(item, call_id) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get(_MARK)
    if kind == "message":
        return _message_of(value, call_id)
    if kind == "interrupt":
        raise GraphInterrupt(
            tuple(Interrupt(value=read_again(it["value"], None), id=it["id"]) for it in value["interrupts"])
        )
    members = {name: read_again(item, call_id) for name, item in value.items() if name != _MARK}
    if kind == "command":
        return Command(**members)
    return Send(**members) if kind == "send" else members


def for_call(value: Any, call_id: str, name: str) -> Any:
    """What was recorded, as the answer to this call. A substitute may be just what the model is told."""
    found = read_again(value, call_id)
    of_graph = found if isinstance(found, list) else [found]
    if of_graph and all(isinstance(item, BaseMessage | Command) for item in of_graph):
        return found
    content = found if isinstance(found, str) else json.dumps(found)
    return ToolMessage(content, tool_call_id=call_id, name=name)


def _message(message: BaseMessage) -> dict[str, Any]:
    if not isinstance(message, ToolMessage):
        return {_MARK: "message", "data": message_to_dict(message)}
    said: dict[str, Any] = {_MARK: "message", "data": message_to_dict(message.model_copy(update={"artifact": None}))}
    if message.artifact is not None:
        try:
            exact(message.artifact)
            said["artifact"] = message.artifact
        except InvalidRequest:
            # What is for the program alone and is no JSON is not kept; the model is told the rest.
            return said
    return said


def _message_of(value: dict[str, Any], call_id: str | None) -> BaseMessage:
    (message,) = messages_from_dict([value["data"]])
    if isinstance(message, ToolMessage):
        message.artifact = value.get("artifact")
        message.tool_call_id = call_id or message.tool_call_id
    return message
