"""Answers of every kind come back as they were: live, in a replay, and whatever the server makes of numbers."""

from __future__ import annotations

import json
import math
import random
from enum import Enum, IntEnum
from typing import Any

import pytest
from pydantic import BaseModel

import quipu
from quipu._exact import as_question, exact, restored
from quipu._recording import digest_of


class Number(IntEnum):
    SEVEN = 7


class Word(str, Enum):
    YES = "yes"


class Model(BaseModel):
    blob: bytes
    big: int = 2**64


def through(value: Any) -> Any:
    """The value after it was written and read."""
    return restored(json.loads(json.dumps(exact(value), allow_nan=False)))


def deep(levels: int) -> Any:
    value: Any = [1.0]
    for level in range(levels):
        value = {"in": value} if level % 2 else [value]
    return value


SAME: list[Any] = [
    *(sign * 2**power + more for sign in (1, -1) for power in (53, 63, 64, 200, 14_000) for more in (-1, 0, 1)),
    *(0.0, 3.0, -7.0, 1e20, 1e22, 1e308, 5e-324, 0.1, 1 / 3, math.inf, -math.inf),
    *(b"", b"\x00\xff", bytes(range(256)), "half \ud83d", "\udd00", "whole 🦉", "", None, True, False),
    {"id": 2**63, "ids": [2**53, 2**53 - 1], "f": [1.0, 2.5]},
    {"$quipu": "int", "text": "3"},
    {"$error": {"code": "builtins.ValueError", "message": "told, not raised"}},
    {"$quipu": {"$quipu": [{"$error": b"\xff"}]}},
    {"half \ud800": 1, "whole": 2},
    deep(39),
    deep(40),
    deep(41),
    deep(300),
    {"$quipu": deep(70)},
]


@pytest.mark.parametrize("value", SAME, ids=lambda value: ascii(value)[:30])
def test_a_value_is_the_same_again(value: Any) -> None:
    again = through(value)
    assert again == value
    assert type(again) is type(value)
    assert repr(again) == repr(restored(exact(value)))


def test_what_is_not_equal_to_itself_is_there_too() -> None:
    assert math.isnan(through(math.nan))
    assert math.copysign(1, through(-0.0)) == -1
    assert (through(3.0), through(3)) == (3.0, 3)
    assert (type(through(3.0)), type(through(3))) == (float, int)


def test_what_is_more_than_json_is_as_pydantic_has_it() -> None:
    assert through((1, (2.0,), {3})) == [1, [2.0], [3]]
    assert through([Number.SEVEN, Word.YES]) == [7, "yes"]
    assert through(Model(blob=b"\xff")) == {"blob": b"\xff", "big": 2**64}
    assert through(Model(blob=b"text")) == {"blob": "text", "big": 2**64}
    assert through({1: "a", None: "b", False: "c", 2.5: "d"}) == {"1": "a", "null": "b", "false": "c", "2.5": "d"}


def test_a_name_that_is_there_twice_once_all_are_texts_loses_nothing() -> None:
    assert through({1: "a", "1": "b"}) == {1: "a", "1": "b"}


def test_names_come_in_the_order_that_a_replay_has() -> None:
    assert list(restored(exact({"b": 1, "a": {"d": 1, "c": 2}}))) == ["a", "b"]
    assert list(restored(exact({"\U0001f989": 1, "\uffff": 2}))) == ["\U0001f989", "\uffff"]


def test_questions_have_the_digests_that_they_always_had() -> None:
    assert as_question({"n": 3.0, "b": b"text", "t": (1, 2)}) == {"n": 3, "b": "text", "t": [1, 2]}
    assert as_question([1e300, -0.0]) == [1e300, 0]
    assert digest_of(as_question({"b": 1.0, "a": "é"})) == digest_of({"a": "é", "b": 1})
    assert digest_of(None) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"$quipu": "int"},
        {"$quipu": "int", "text": "x"},
        {"$quipu": "bytes", "base64": 3},
        {"$quipu": "map", "items": 1},
    ],
)
def test_a_mark_that_nobody_writes_is_refused(wrong: Any) -> None:
    with pytest.raises(quipu.InvalidRequest):
        restored(wrong)
    assert restored({"$quipu": "of another time", "x": 1}) == {"$quipu": "of another time", "x": 1}


def test_random_values_are_the_same_again() -> None:
    draw = random.Random(7)

    def value(levels: int) -> Any:  # noqa: PLR0911 - one for each kind
        kinds = 9 if levels else 7
        match draw.randrange(kinds):
            case 0:
                return draw.randrange(-(2**70), 2**70) >> draw.randrange(70)
            case 1:
                return draw.choice([draw.random() * 10.0 ** draw.randrange(-30, 30), float(draw.randrange(100))])
            case 2:
                return draw.randbytes(draw.randrange(9))
            case 3 | 4:
                return "".join(chr(draw.choice([65, 0x7F, 0xE9, 0xD800, 0x1F989])) for _ in range(draw.randrange(5)))
            case 5 | 6:
                return draw.choice([None, True, False, "$quipu"])
            case 7:
                return [value(levels - 1) for _ in range(draw.randrange(5))]
            case _:
                names = ["a", "b", "$quipu", "$error", "\ud800", "é", "1"]
                return {name: value(levels - 1) for name in draw.sample(names, draw.randrange(4))}

    for _ in range(2000):
        it = value(5)
        assert through(it) == it


def test_a_run_is_told_the_same_live_and_in_a_replay(field: quipu.Field) -> None:
    def work(run: quipu.Run) -> list[str]:
        left = iter(SAME)
        told = [run.host("any", lambda: next(left)) for _ in SAME]
        run.llm("main", lambda _: "said", f"what are {told!r}")
        return [repr(value)[:1000] for value in told]

    with field.task("tell") as run:
        run.result = work(run)
    again = field.run_replay(field.replay(run.id).id, work)
    assert again.result == run.result == [repr(restored(exact(value)))[:1000] for value in SAME]
    assert (again.drift, again.divergence().diverged) == ([], False)


def test_results_and_substitutes_may_be_anything_too(field: quipu.Field) -> None:
    def work(run: quipu.Run) -> Any:
        return run.llm("main", lambda _: {"id": 2**60, "blob": b"\xff"}, None)

    with field.task("tell") as run:
        run.result = work(run)
    assert run.outcome().output == {"blob": b"\xff", "id": 2**60}
    replay = field.replay(run.id, overrides={"llm:main:1": [math.inf, 2**80, b"\x00"]})
    again = field.run_replay(replay.id, work)
    assert again.result == [math.inf, 2**80, b"\x00"]
    divergence = again.divergence()
    assert divergence.output.replay == again.result
    assert divergence.output.source == run.result


def test_a_substitute_may_be_an_error(field: quipu.Field) -> None:
    def work(run: quipu.Run) -> str:
        try:
            return str(run.llm("main", lambda _: "fine", None))
        except TimeoutError as error:
            return f"slow: {error}"

    with field.task("ask") as run:
        run.result = work(run)
    slow = {"$error": {"code": "builtins.TimeoutError", "message": "9 s"}}
    assert field.run_replay(field.replay(run.id, overrides={"llm:main:1": slow}).id, work).result == "slow: 9 s"
