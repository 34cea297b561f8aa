"""A text as the answer of a model, in the words of each endpoint: whole, and as the events of a stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Body = dict[str, Any]
Event = dict[str, Any]

# Answers that nobody counted and no clock dated: a replay gives the same bytes each time.
_NO_TOKENS = {"input_tokens": 0, "output_tokens": 0}


def _chat(text: str, model: str) -> Body:
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-quipu",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _chat_events(pieces: Sequence[str], model: str) -> list[Event]:
    def chunk(delta: Body, finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        same = {"id": "chatcmpl-quipu", "object": "chat.completion.chunk", "created": 0, "model": model}
        return {"data": {**same, "choices": [choice]}}

    said = [chunk({"content": piece}) for piece in pieces]
    return [chunk({"role": "assistant", "content": ""}), *said, chunk({}, "stop"), {"data": "[DONE]"}]


def _output_item(text: str, status: str = "completed") -> Body:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}] if text else []
    return {"id": "msg_quipu", "type": "message", "role": "assistant", "status": status, "content": content}


def response(output: list[Body], model: str, status: str = "completed") -> Body:
    """The object of the Responses API around its output."""
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "resp_quipu",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": status,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {**_NO_TOKENS, "total_tokens": 0, **details} if status == "completed" else None,
    }


def _response(text: str, model: str) -> Body:
    return response([_output_item(text)], model)


def _response_events(pieces: Sequence[str], model: str) -> list[Event]:
    text = "".join(pieces)
    place = {"item_id": "msg_quipu", "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    told: list[Body] = [
        {"type": "response.created", "response": response([], model, "in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": _output_item("", "in_progress")},
        {"type": "response.content_part.added", **place, "part": empty},
        *({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []} for piece in pieces),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": {**empty, "text": text}},
        {"type": "response.output_item.done", "output_index": 0, "item": _output_item(text)},
        {"type": "response.completed", "response": _response(text, model)},
    ]
    return [{"event": data["type"], "data": {**data, "sequence_number": n}} for n, data in enumerate(told)]


def _message(text: str, model: str, stop: str | None = "end_turn") -> Body:
    return {
        "id": "msg_quipu",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _NO_TOKENS,
    }


def _message_events(pieces: Sequence[str], model: str) -> list[Event]:
    deltas = ({"type": "text_delta", "text": piece} for piece in pieces)
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    told: list[Body] = [
        {"type": "message_start", "message": _message("", model, stop=None)},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 0}},
        {"type": "message_stop"},
    ]
    return [{"event": data["type"], "data": data} for data in told]


_WHOLE: dict[str, Callable[[str, str], Body]] = {
    "chat/completions": _chat,
    "responses": _response,
    "messages": _message,
}
_STREAMED: dict[str, Callable[[Sequence[str], str], list[Event]]] = {
    "chat/completions": _chat_events,
    "responses": _response_events,
    "messages": _message_events,
}


def endpoint_of(path: str) -> str | None:
    """Which of the endpoints a path is, whatever stands before it."""
    return next((name for name in _WHOLE if path.rstrip("/").endswith("/" + name)), None)


def whole(endpoint: str, text: str, model: str, name: str = "quipu") -> Body:
    """The text as the body of an answer, whose ids have this name."""
    body: Body = _named(_WHOLE[endpoint](text, model), name)
    return body


def streamed(endpoint: str, pieces: Sequence[str], model: str, name: str = "quipu") -> list[Event]:
    """The text, piece by piece, as the events of a stream."""
    events: list[Event] = _named(_STREAMED[endpoint](pieces, model), name)
    return events


_IDS = frozenset({"chatcmpl-quipu", "msg_quipu", "resp_quipu"})


def _named(value: Any, name: str) -> Any:
    # A library that keeps messages by their ids takes two of one id for one.
    if isinstance(value, dict):
        return {
            key: it.replace("quipu", name) if key in {"id", "item_id"} and it in _IDS else _named(it, name)
            for key, it in value.items()
        }
    return [_named(it, name) for it in value] if isinstance(value, list) else value
