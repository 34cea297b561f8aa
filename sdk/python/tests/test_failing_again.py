"""Exceptions of recorded calls: a replay raises what the live call raised."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import quipu
from quipu._failures import failure_value, recorded_error


def again(error: Exception, secrets: tuple[Any, ...] = ()) -> Any:
    """What is raised after it was recorded: through the text that the server keeps."""
    return recorded_error(json.loads(json.dumps(failure_value(error, secrets)))["$error"])


class Outer:
    class Inner(Exception):
        """One within another class."""

    class Numbered(Exception):
        """One with a code of its own."""

        @property
        def code(self) -> int:
            return 7

    class Demanding(OSError):
        """One that cannot be made of what it says, and has more than JSON holds."""

        def __init__(self, number: int, *, where: str) -> None:
            super().__init__(number, "it broke")
            self.where = where
            self.parts = (1, b"\xff", {"at": float("inf")})
            self.handle = object()


def decoding() -> UnicodeDecodeError:
    try:
        b"caf\xe9".decode()
    except UnicodeDecodeError as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    "make",
    [
        lambda: ValueError("it broke", 7),
        lambda: TimeoutError("slow"),
        lambda: KeyError("price"),
        decoding,
        lambda: json.JSONDecodeError("no", "{", 1),
        lambda: OSError(2, "gone", "/a"),
        lambda: quipu.NotFound("no such", code="UNIT_NOT_FOUND", status=404),
        lambda: Outer.Inner("within"),
        lambda: Outer.Numbered("seven"),
    ],
)
def test_an_error_is_of_its_very_type_and_says_the_same(make: Callable[[], Exception]) -> None:
    error = make()
    told = again(error)
    assert type(told) is type(error)
    assert str(told) == str(error)
    assert repr(told) == repr(error)
    assert {**vars(told)} == {**vars(error)}


def test_parts_that_only_its_own_making_knows_are_there() -> None:
    told = again(Outer.Demanding(5, where="here"))
    assert (told.errno, told.strerror, told.where) == (5, "it broke", "here")
    assert told.parts == [1, b"\xff", {"at": float("inf")}]
    assert told.handle is None
    assert (decoding().start, decoding().object) == (again(decoding()).start, again(decoding()).object)


def test_causes_come_along() -> None:
    error = ValueError("outer")
    error.__cause__ = OSError(104, "reset")
    told = again(error)
    assert (type(told.__cause__), told.__cause__.errno) == (ConnectionResetError, 104)


@pytest.mark.parametrize("code", ["os.system", "nowhere.Error", "builtins.KeyboardInterrupt", "", "x"])
def test_what_is_no_loaded_exception_is_a_plain_one(code: str) -> None:
    told = recorded_error({"code": code, "message": "m", "attributes": {"status": 3}})
    assert type(told) is quipu.RecordedError
    assert (told.code, told.message, told.attributes) == (code, "m", {"status": 3})
    assert type(recorded_error({"code": f"{__name__}.Outer.Missing", "message": "m"})) is quipu.RecordedError


def test_errors_that_were_recorded_by_their_message_alone_are_raised_too() -> None:
    told = recorded_error({"code": "builtins.TimeoutError", "message": "slow"})
    assert (type(told), str(told)) == (TimeoutError, "slow")


def test_a_response_comes_back_without_what_is_secret() -> None:
    request = httpx.Request(
        "POST", "https://me:pass@models.example/v1/ask?key=hidden", headers={"Authorization": "Bearer x"}
    )
    headers = {"retry-after": "3", "Set-Cookie": "a=hidden", "X-Api-Key": "hidden", "content-type": "application/json"}
    response = httpx.Response(429, headers=headers, json={"error": "token hunter2 is over"}, request=request)
    error = httpx.HTTPStatusError("too many", request=request, response=response)
    kept = json.dumps(failure_value(error, ["hunter2"]))
    assert not [word for word in ("hidden", "hunter2", "Bearer", "pass@") if word in kept]
    told = again(error, ("hunter2",))
    assert type(told) is httpx.HTTPStatusError
    assert (told.response.status_code, told.response.headers["retry-after"]) == (429, "3")
    assert told.response.json() == {"error": "token [secret] is over"}
    assert str(told.request.url) == "https://models.example/v1/ask"
    with pytest.raises(httpx.HTTPStatusError, match="429"):
        told.response.raise_for_status()


class Reply:
    """A response of a client that nobody heard of."""

    status_code = 503
    headers = {"retry-after": "1", "x-session-id": "hidden"}
    content = b"\xff"
    request = None
    reason = "Busy"


def test_a_response_of_any_client_is_one_again() -> None:
    error = RuntimeError("busy")
    error.response = Reply()  # type: ignore[attr-defined]
    told = again(error)
    assert (told.response.status_code, told.response.content, told.response.reason) == (503, b"\xff", "Busy")
    assert told.response.headers == {"retry-after": "1"}


def test_what_an_override_says_of_an_error_breaks_nothing() -> None:
    for said in (
        {"code": 7, "args": "no list"},
        {"code": "builtins.ValueError", "args": [{"$response": 3}, {"$quipu": "int"}]},
        {"code": "builtins.UnicodeDecodeError", "args": ["too few"]},
        {"code": "builtins.ValueError", "attributes": {"__class__": "x"}, "cause": {"code": "a.b"}},
        {
            "code": "httpx.HTTPStatusError",
            "attributes": {"response": {"$response": {"library": "httpx", "status": "x"}}},
        },
    ):
        assert isinstance(recorded_error(said), Exception), said


def test_a_replay_raises_what_the_live_call_raised(field: quipu.Field) -> None:
    def refused(_: object) -> None:
        raise Outer.Demanding(9, where="there")

    def work(run: quipu.Run) -> list[Any]:
        try:
            run.llm("main", refused, "?")
        except Outer.Demanding as error:
            return [error.errno, error.where, type(error).__qualname__]
        raise AssertionError

    with field.task("fragile") as run:
        run.result = work(run)
    assert field.run_replay(field.replay(run.id).id, work).result == run.result
