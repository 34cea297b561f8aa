"""What goes wrong, and how it is told."""

from __future__ import annotations

import itertools
import json
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import quipu

from .servers import Server, answer, handled, waits


def test_an_error_has_the_server_s_words(field: quipu.Field) -> None:
    with pytest.raises(quipu.InvalidRequest) as raised:
        field.agent("ana").record("No reason.", purpose="  ", confidence=0.5, reasoning="x")
    error = raised.value
    assert (error.code, error.operation, error.status, error.recoverable) == ("MISSING_INTENT", "RECORD", 400, True)
    assert error.suggested_action
    assert "intent.purpose" in error.message
    assert str(error).startswith("MISSING_INTENT: ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"confidence": 1.5, "reasoning": "x"}, "INVALID_CONFIDENCE"),
        ({"confidence": "high", "reasoning": "x"}, "INVALID_CONFIDENCE"),
        ({"confidence": 0.5}, "MISSING_CONFIDENCE"),
        ({"draft": True, "type": "poem"}, "INVALID_TYPE"),
        ({"draft": True, "content": 7}, "INVALID_PAYLOAD"),
        ({"draft": True, "content": object()}, "INVALID_PAYLOAD"),
        ({"confidence": float("nan"), "reasoning": "x"}, "INVALID_PAYLOAD"),
        ({"draft": True, "content": "\ud800"}, "INVALID_PAYLOAD"),
        ({"draft": True, "content": "x" * (1 << 20) + "x"}, "INVALID_PAYLOAD"),
        ({"draft": True, "content": "x" * (5 << 20)}, "PAYLOAD_TOO_LARGE"),
    ],
)
def test_invalid_arguments_are_refused_and_nothing_is_recorded(
    field: quipu.Field, arguments: dict[str, object], code: str
) -> None:
    given: dict[str, object] = {"content": "A text.", "purpose": "Try", **arguments}
    ana = field.agent("ana")
    ana.register()
    with pytest.raises(quipu.InvalidRequest) as raised:
        ana.record(**given)  # type: ignore[arg-type]
    assert raised.value.code == code
    assert field.status().units["total"] == 0


def test_a_content_of_one_mebibyte_is_kept_whole(field: quipu.Field) -> None:
    text = "wort " * ((1 << 20) // 5)
    kept = field.agent("ana").record(text, purpose="Try", draft=True)
    assert field.unit(kept.memory_unit_id).content == text


def test_what_is_not_there_is_not_found(field: quipu.Field) -> None:
    ana = field.agent("ana")
    ana.register()
    with pytest.raises(quipu.NotFound, match="UNIT_NOT_FOUND"):
        field.unit("mem-none")
    with pytest.raises(quipu.NotFound, match="CONFLICT_NOT_FOUND"):
        ana.merge("conflict-none", "synthesis", rationale="x", synthesis="y")
    with pytest.raises(quipu.NotFound, match="resource_not_found"):
        field.get_task("task_none")


def test_keys_are_asked_for_and_fields_are_not_made_by_everybody(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server:
        assert server.key is not None
        with quipu.Field(server.url, key=server.key) as operator:
            operator.agent("ana").record("By key.", purpose="Try", draft=True)
        with quipu.Field(server.url, key="quipu_wrong") as field, pytest.raises(quipu.Unauthenticated) as raised:
            field.agent("ana").attune()
        assert (raised.value.status, raised.value.code) == (401, "UNAUTHENTICATED")
        with quipu.Field(server.url) as field, pytest.raises(quipu.Unauthenticated), field.task("no key"):
            pass
        made = server.command("key", "create", "--agent", "ana", "--authority", "4")
        own = next(word for word in made.split() if word.startswith("quipu_"))
        with quipu.Field(server.url, key=own, field="another") as field, pytest.raises(quipu.FieldNotFound):
            field.agent("ana").record("Elsewhere.", purpose="Try", draft=True)
        with quipu.Field(server.url, key=own) as field, pytest.raises(quipu.PermissionDenied):
            field.agent("bo").attune()


def test_a_server_that_speaks_something_else_is_told_apart() -> None:
    def page(request: BaseHTTPRequestHandler) -> None:
        answer(request, 200 if "status" in request.path else 404, b"<html>It works!</html>", Content_Type="text/html")

    with handled(page) as url, quipu.Field(url) as field:
        with pytest.raises(quipu.BadAnswer) as raised:
            field.status()
        assert (raised.value.code, raised.value.status) == ("BAD_ANSWER", 200)
        assert "It works!" in raised.value.message
        with pytest.raises(quipu.BadAnswer):
            field.agents()


def test_a_server_that_hangs_is_given_up() -> None:
    hanging = threading.Event()
    with handled(lambda _: waits(hanging)) as url, quipu.Field(url, timeout=0.2, retry_for=0) as field:
        begun = time.monotonic()
        with pytest.raises(quipu.TimedOut) as raised:
            field.status()
        assert time.monotonic() - begun < 20
        assert raised.value.recoverable
        hanging.set()


def test_nobody_there_is_a_connection_that_failed() -> None:
    with quipu.Field("http://127.0.0.1:1", retry_for=0.2) as field:
        with pytest.raises(quipu.ConnectionFailed) as raised:
            field.status()
        assert raised.value.code == "CONNECTION_FAILED"
        assert raised.value.status is None


def test_what_says_later_is_sent_again_as_it_was() -> None:
    bodies: list[bytes] = []
    numbers = itertools.count()

    def busy(request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        del request.headers["Content-Length"]
        bodies.append(body)
        attempt = next(numbers)
        refusal = {"code": "OVERLOADED", "message": "busy", "recoverable": True}
        if attempt == 0:
            answer(request, 429, json.dumps({**refusal, "code": "RATE_LIMITED"}).encode(), Retry_After="0")
        elif attempt < 3:
            answer(request, 503, json.dumps(refusal).encode())
        else:
            answer(request, 200, b'{"status": "ok", "agent": null, "new_in_later_versions": [1]}')

    with handled(busy) as url, quipu.Field(url) as field:
        registered = field.agent("ana").register()
    assert registered is not None
    assert registered.status == "ok"
    assert len(bodies) == 4
    assert len(set(bodies)) == 1


def test_a_pause_beyond_the_patience_is_an_error_at_once() -> None:
    body = b'{"error": {"code": "rate_limited", "message": "quota", "details": {"used": 3}}}'
    with (
        handled(lambda request: answer(request, 429, body, Retry_After="3600")) as url,
        quipu.Field(url, retry_for=5) as field,
    ):
        with pytest.raises(quipu.RateLimited) as raised:
            field.get_task("task_1")
        assert raised.value.details == {"used": 3}


@pytest.mark.parametrize("url", ["", "ftp://x", "127.0.0.1:7070", "http://"])
def test_an_address_that_is_none_is_refused_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUIPU_URL", "nonsense")
    with pytest.raises(ValueError, match="url"):
        quipu.Field(url)


def test_the_environment_says_where(server: Server, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUIPU_URL", server.url + "/")
    monkeypatch.setenv("QUIPU_FIELD", name)
    with quipu.Field() as field:
        field.agent("ana").register()
        assert field.status().name == name


def test_a_name_that_no_header_can_carry_is_refused_at_once(field: quipu.Field) -> None:
    with pytest.raises(quipu.InvalidRequest, match="control characters"), field.task("odd", agent="a\nb"):
        pass
    with pytest.raises(quipu.InvalidRequest, match="control characters"):
        field.agent("a\nb").unit("mem-1")
    with pytest.raises(quipu.InvalidRequest, match="spaces"), field.task("odd", agent=" a "):
        pass


@pytest.mark.parametrize("value", ["quipu_k\n", " quipu_k", "quipu_clé"])
def test_a_key_or_field_that_no_header_can_carry_is_refused_at_once_and_not_shown(value: str) -> None:
    with pytest.raises(ValueError, match="key: has spaces") as raised:
        quipu.Field("http://127.0.0.1:1", key=value)
    assert "quipu_" not in str(raised.value)
    with pytest.raises(ValueError, match="field: has spaces"):
        quipu.AsyncField("http://127.0.0.1:1", field=value)
