"""Clients of OpenAI and Anthropic that are recorded: the real libraries, real HTTP, and replays that call nobody."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler
from typing import Any

import anthropic
import openai
import pytest

import quipu
from quipu.adapters import _exchange, _spoken
from quipu.adapters.anthropic import record as record_anthropic
from quipu.adapters.openai import record as record_openai

from ..servers import Server, answer, handled
from .endpoint import Endpoint, Fail, Held

ASKED: Any = [{"role": "user", "content": "What does tea cost?"}]


def gpt(endpoint: Endpoint, run: quipu.Run, **options: Any) -> openai.OpenAI:
    return record_openai(openai.OpenAI(base_url=endpoint.url, api_key="none", **options), run)


def claude(endpoint: Endpoint, run: quipu.Run) -> anthropic.Anthropic:
    url = endpoint.url.removesuffix("/v1")
    return record_anthropic(anthropic.Anthropic(base_url=url, api_key="none"), run)


def chat(endpoint: Endpoint, run: quipu.Run) -> list[Any]:
    with gpt(endpoint, run) as client:
        return [client.chat.completions.create(model="m", messages=ASKED)]


def chat_stream(endpoint: Endpoint, run: quipu.Run) -> list[Any]:
    with gpt(endpoint, run) as client:
        return list(client.chat.completions.create(model="m", messages=ASKED, stream=True))


def response(endpoint: Endpoint, run: quipu.Run) -> list[Any]:
    with gpt(endpoint, run) as client:
        return [client.responses.create(model="m", input="What does tea cost?")]


def response_stream(endpoint: Endpoint, run: quipu.Run) -> list[Any]:
    with (
        gpt(endpoint, run) as client,
        client.responses.stream(model="m", input="What does tea cost?") as stream,
    ):
        return [*stream, stream.get_final_response()]


def message(endpoint: Endpoint, run: quipu.Run) -> list[Any]:
    with claude(endpoint, run) as client:
        return [client.messages.create(model="m", max_tokens=9, messages=ASKED)]


def message_stream(endpoint: Endpoint, run: quipu.Run) -> list[Any]:
    with (
        claude(endpoint, run) as client,
        client.messages.stream(model="m", max_tokens=9, messages=ASKED) as stream,
    ):
        return [*stream, stream.get_final_message()]


SPEAKING = [chat, chat_stream, response, response_stream, message, message_stream]


def recorded(field: quipu.Field, work: Callable[[quipu.Run], Any]) -> quipu.Run:
    """The run of a Task that did this work."""
    with field.task("ask a model") as run:
        run.result = work(run)
    return run


def plain(found: list[Any]) -> list[Any]:
    return [it.model_dump(mode="json", warnings=False) for it in found]


@pytest.mark.parametrize("speak", SPEAKING, ids=lambda speak: speak.__name__)
def test_a_replay_gives_the_librarys_own_objects_and_calls_nobody(
    field: quipu.Field, endpoint: Endpoint, speak: Callable[[Endpoint, quipu.Run], list[Any]]
) -> None:
    endpoint.script = ["Tea costs seven."]
    live: list[Any] = []
    again: list[Any] = []
    source = recorded(field, lambda run: live.extend(speak(endpoint, run)))
    assert endpoint.calls == 1
    assert "seven" in str(live[-1]) or "seven" in str(live[-3:])
    field.run_replay(field.replay(source.id).id, lambda run: again.extend(speak(endpoint, run)))
    assert endpoint.calls == 1
    assert [type(it) for it in again] == [type(it) for it in live]
    assert plain(again) == plain(live)


async def _speak_async(endpoint: Endpoint, run: quipu.AsyncRun) -> list[Any]:
    gpt = record_openai(openai.AsyncOpenAI(base_url=endpoint.url, api_key="none"), run)
    url = endpoint.url.removesuffix("/v1")
    claude = record_anthropic(anthropic.AsyncAnthropic(base_url=url, api_key="none"), run, name="claude")
    async with gpt, claude:
        return await _converse(gpt, claude)


async def _converse(gpt: openai.AsyncOpenAI, claude: anthropic.AsyncAnthropic) -> list[Any]:
    found: list[Any] = [await gpt.chat.completions.create(model="m", messages=ASKED)]
    found += [it async for it in await gpt.chat.completions.create(model="m", messages=ASKED, stream=True)]
    async with gpt.responses.stream(model="m", input="What does tea cost?") as stream:
        found += [it async for it in stream]
    found.append(await claude.messages.create(model="m", max_tokens=9, messages=ASKED))
    async with claude.messages.stream(model="m", max_tokens=9, messages=ASKED) as said:
        found += [it async for it in said]
    return found


def test_clients_that_await_are_recorded_alike(server: Server, name: str, endpoint: Endpoint) -> None:
    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            async with field.task("ask models") as run:
                live = await _speak_async(endpoint, run)
            calls = endpoint.calls
            assert calls == 5
            replay = await field.replay(run.id)
            async with field.replaying(replay.id) as again:
                told = await _speak_async(endpoint, again)
            assert endpoint.calls == calls
            assert plain(told) == plain(live)
            assert not (await again.divergence()).diverged

    asyncio.run(main())


def test_a_stream_is_told_piece_by_piece_while_it_is_recorded(field: quipu.Field, endpoint: Endpoint) -> None:
    held = Held("one two three")
    endpoint.script = [held]
    with field.task("listen") as run:
        pieces: list[str] = []
        held.let_go.release()
        with gpt(endpoint, run) as client:
            for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
                pieces.append(chunk.choices[0].delta.content or "")
                # The endpoint goes on only now: whoever waited for the whole stream would wait for ever.
                held.let_go.release(2 if len(pieces) > 3 else 1)
    assert "".join(pieces) == "one two three"


def test_a_stream_that_was_left_early_replays_as_far_as_it_was_heard(field: quipu.Field, endpoint: Endpoint) -> None:
    def begin(run: quipu.Run) -> str:
        with (
            gpt(endpoint, run) as client,
            client.chat.completions.create(model="m", messages=ASKED, stream=True) as stream,
        ):
            next(stream)
            return next(stream).choices[0].delta.content or ""

    endpoint.script = ["one two three"]
    source = recorded(field, begin)
    again = field.run_replay(field.replay(source.id).id, begin)
    assert again.result == source.result == "one "
    assert endpoint.calls == 1


@pytest.mark.parametrize("fails", [False, True])
def test_a_stream_that_nobody_closed_is_recorded_with_its_run(
    field: quipu.Field, endpoint: Endpoint, fails: bool
) -> None:
    kept: list[Any] = []

    def begin(run: quipu.Run) -> str:
        kept.append(gpt(endpoint, run).chat.completions.create(model="m", messages=ASKED, stream=True))
        next(kept[-1])
        said = next(kept[-1]).choices[0].delta.content or ""
        if fails:
            raise ValueError(said)
        return said

    def outcome(run: quipu.Run) -> None:
        run.result = begin(run)

    endpoint.script = ["one two three"]
    source = field.task("left open")
    with pytest.raises(ValueError, match="one") if fails else nullcontext(), source:
        outcome(source)
    replay = field.replay(source.id)
    with pytest.raises(ValueError, match="one") if fails else nullcontext():
        assert field.run_replay(replay.id, begin).result == "one "
    assert endpoint.calls == 1
    for stream in kept:
        stream.close()


def broken_off(request: BaseHTTPRequestHandler) -> None:
    """Begins a stream and hangs up."""
    request.rfile.read(int(request.headers["Content-Length"]))
    request.send_response(200)
    request.send_header("Content-Type", "text/event-stream")
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    for event in _spoken.streamed("chat/completions", ["one ", "two"], "m")[:2]:
        content = _exchange.event_bytes(event)
        request.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
    request.close_connection = True
    request.connection.shutdown(socket.SHUT_RDWR)


def test_a_stream_that_broke_breaks_again_at_the_same_place(field: quipu.Field, server: Server, name: str) -> None:
    with handled(broken_off) as url:
        options: Any = {"base_url": f"{url}/v1", "api_key": "none", "max_retries": 0}

        def listen(run: quipu.Run) -> list[str]:
            heard: list[str] = []
            try:
                with record_openai(openai.OpenAI(**options), run) as client:
                    for chunk in client.chat.completions.create(model="m", messages=ASKED, stream=True):
                        heard.append(chunk.choices[0].delta.content or "")  # noqa: PERF401 - it breaks off
            except openai.APIConnectionError:
                heard.append("broken")
            return heard

        async def awaited(run: quipu.AsyncRun) -> list[str]:
            heard: list[str] = []
            try:
                async with record_openai(openai.AsyncOpenAI(**options), run) as client:
                    async for chunk in await client.chat.completions.create(model="m", messages=ASKED, stream=True):
                        heard.append(chunk.choices[0].delta.content or "")  # noqa: PERF401 - it breaks off
            except openai.APIConnectionError:
                heard.append("broken")
            return heard

        async def twice() -> tuple[Any, Any]:
            async with quipu.AsyncField(server.url, field=name) as other:
                async with other.task("listen") as run:
                    run.result = await awaited(run)
                return run.result, (await other.run_replay((await other.replay(run.id)).id, awaited)).result

        source = recorded(field, listen)
        again = field.run_replay(field.replay(source.id).id, listen)
        assert again.result == source.result == ["", "one ", "broken"]
        assert asyncio.run(twice()) == (source.result, source.result)


def test_a_refused_call_is_refused_again(field: quipu.Field, endpoint: Endpoint) -> None:
    def ask(run: quipu.Run) -> list[Any]:
        with pytest.raises(openai.BadRequestError) as refused:
            chat(endpoint, run)
        return [refused.value.status_code, refused.value.request_id, refused.value.message]

    endpoint.script = [Fail(400)]
    source = recorded(field, ask)
    again = field.run_replay(field.replay(source.id).id, ask)
    assert again.result == source.result
    assert source.result[:2] == [400, "req-1"]
    assert endpoint.calls == 1


def test_what_the_library_tried_again_is_tried_again_without_a_call(field: quipu.Field, endpoint: Endpoint) -> None:
    endpoint.script = [Fail(500), Fail(429), "third time lucky"]
    source = recorded(field, lambda run: plain(chat(endpoint, run)))
    assert endpoint.calls == 3
    again = field.run_replay(field.replay(source.id).id, lambda run: plain(chat(endpoint, run)))
    assert again.result == source.result
    assert endpoint.calls == 3
    events = [event for event in field.events(source.id) if event.event == "vendor.dependency.recorded"]
    assert len(events) == 3


def test_an_endpoint_that_is_not_there_is_not_there_in_the_replay(field: quipu.Field) -> None:
    def ask(run: quipu.Run) -> str:
        nobody = Endpoint(url="http://127.0.0.1:1/v1")
        with gpt(nobody, run, max_retries=0) as client, pytest.raises(openai.APIConnectionError) as failed:
            client.chat.completions.create(model="m", messages=ASKED)
        return type(failed.value).__name__

    source = recorded(field, ask)
    assert field.run_replay(field.replay(source.id).id, ask).result == source.result


@pytest.mark.parametrize("speak", SPEAKING, ids=lambda speak: speak.__name__)
def test_an_override_may_be_a_plain_text(
    field: quipu.Field, endpoint: Endpoint, speak: Callable[[Endpoint, quipu.Run], list[Any]]
) -> None:
    source = recorded(field, lambda run: plain(speak(endpoint, run)))
    replay = field.replay(source.id, overrides={"llm:main:1": "Coffee is better."})
    again = field.run_replay(replay.id, lambda run: plain(speak(endpoint, run)))
    assert endpoint.calls == 1
    assert "Coffee is better." in str(again.result)
    assert [changed.key for changed in again.divergence().dependencies] == ["llm:main:1"]


def test_a_changed_answer_leads_to_another_question_and_that_is_told(field: quipu.Field, endpoint: Endpoint) -> None:
    def converse(run: quipu.Run) -> str:
        with gpt(endpoint, run) as client:
            price = client.responses.create(model="m", input="What does tea cost?").output_text
            return client.responses.create(model="m", input=f"Is {price} too much?").output_text

    endpoint.script = ["seven", "No."]
    source = recorded(field, converse)
    body = {"status": 200, "body": _answered("seventy")}
    again = field.run_replay(field.replay(source.id, overrides={"llm:main:1": body}).id, converse)
    assert again.drift == ["llm:main:2"]
    assert again.result == "No."
    assert endpoint.calls == 2


def _answered(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    said = {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    return {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": [said], "tools": []}


def test_an_override_that_is_no_answer_is_refused_by_name(field: quipu.Field, endpoint: Endpoint) -> None:
    source = recorded(field, lambda run: plain(chat(endpoint, run)))
    replay = field.replay(source.id, overrides={"llm:main:1": {"text": "hm"}})
    with pytest.raises(ValueError, match="/chat/completions has `events` or a `body`"):
        field.run_replay(replay.id, lambda run: plain(chat(endpoint, run)))


@pytest.mark.parametrize("speak", [chat, message], ids=lambda speak: speak.__name__)
def test_a_question_that_was_never_asked_ends_the_replay_at_once(
    field: quipu.Field, endpoint: Endpoint, speak: Callable[[Endpoint, quipu.Run], list[Any]]
) -> None:
    source = recorded(field, lambda run: plain(speak(endpoint, run)))
    replay = field.replay(source.id)
    with pytest.raises(quipu.ReplayUnavailable) as missing:
        field.run_replay(replay.id, lambda run: [speak(endpoint, run), claude_or_gpt_again(endpoint, run, speak)])
    assert missing.value.first_unavailable["id"] == "llm:other:1"
    assert isinstance(missing.value, (openai.OpenAIError, anthropic.AnthropicError))
    assert field.get_task(replay.id).status == "FAILED"
    assert endpoint.calls == 1


def claude_or_gpt_again(endpoint: Endpoint, run: quipu.Run, speak: Callable[..., Any]) -> Any:
    if speak is chat:
        with openai.OpenAI(base_url=endpoint.url, api_key="none") as client:
            return record_openai(client, run, name="other").chat.completions.create(model="m", messages=ASKED)
    with anthropic.Anthropic(base_url=endpoint.url.removesuffix("/v1"), api_key="none") as other:
        return record_anthropic(other, run, name="other").messages.create(model="m", max_tokens=9, messages=ASKED)


def test_raw_responses_and_keys_of_several_clients(field: quipu.Field, endpoint: Endpoint) -> None:
    with field.task("ask twice") as run, openai.OpenAI(base_url=endpoint.url, api_key="none") as client:
        first = record_openai(client, name="first").chat.completions.with_raw_response.create(model="m", messages=ASKED)
        record_openai(client, name="second").chat.completions.create(model="m", messages=ASKED)
        run.result = first.headers["x-request-id"]
    assert run.result == "req-1"
    replay = field.replay(run.id, overrides={"llm:first:1": "a", "llm:second:1": "b"})
    assert replay.parent_task_id == run.id


def test_a_client_without_a_run_or_with_one_of_the_other_kind_is_refused(
    field: quipu.Field, endpoint: Endpoint
) -> None:
    with pytest.raises(ValueError, match="there is no run"):
        record_openai(openai.OpenAI(base_url=endpoint.url, api_key="none"))
    with field.task("mixed") as run, pytest.raises(TypeError, match="AsyncField"):
        record_openai(openai.AsyncOpenAI(base_url=endpoint.url, api_key="none"), run)  # type: ignore[call-overload]


def test_ids_beyond_a_double_and_whole_floats_come_back(field: quipu.Field) -> None:
    said = b'{"id": "r", "object": "x", "output": [], "big": 12345678901234567890, "whole": 1.0, "no": NaN}'

    def numbers(request: BaseHTTPRequestHandler) -> None:
        answer(request, 200, said, Content_Type="application/json")

    with handled(numbers) as url:

        def ask(run: quipu.Run) -> str:
            with record_openai(openai.OpenAI(base_url=url, api_key="none"), run) as client:
                return str(sorted((client.responses.create(model="m", input="?").model_extra or {}).items()))

        source = recorded(field, ask)
        again = field.run_replay(field.replay(source.id).id, ask)
    assert again.result == source.result == "[('big', 12345678901234567890), ('no', nan), ('whole', 1.0)]"


def test_a_refusal_has_its_response_again(field: quipu.Field, endpoint: Endpoint) -> None:
    def ask(run: quipu.Run) -> list[Any]:
        def call(_: object) -> None:
            with openai.OpenAI(base_url=endpoint.url, api_key="none", max_retries=0) as client:
                client.responses.create(model="m", input="?")

        with pytest.raises(openai.RateLimitError) as refused:
            run.llm("main", call, "?")
        error = refused.value
        assert type(error) is openai.RateLimitError
        headers = error.response.headers
        return [error.status_code, error.body, error.request_id, headers["x-request-id"], error.response.json()]

    endpoint.script = [Fail(429)]
    source = recorded(field, ask)
    again = field.run_replay(field.replay(source.id).id, ask)
    assert again.result == source.result
    assert source.result[0] == 429
    assert endpoint.calls == 1
