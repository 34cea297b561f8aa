"""Recording runs: what is kept, and how a run ends."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import pytest

import quipu

from .pricing import World, price
from .servers import Server


def test_a_run_is_a_task_with_answers_outcome_and_receipt(field: quipu.Field) -> None:
    world = World()
    with field.task("price the deal", agent="pricer", metadata={"deal": 7}) as run:
        assert quipu.current_run() is run
        assert run.task.status == "WORKING"
        assert run.task.assigned_agent_id == "pricer"
        run.event("vendor.sdk.note", {"said": "begun"})
        run.result = price(run, world)
        assert run.checkpoint("priced", run.result) is not None
    assert quipu.current_run() is None
    assert world.calls == 3
    assert run.task.status == "COMPLETED"
    assert run.task.metadata["deal"] == 7
    outcome = run.outcome()
    assert (outcome.output["price"], outcome.summary) == (40, "price the deal")
    ids = {material.get("id") for material in run.receipt().payload["replay_input"]["materials"]}
    assert {"llm:main:1", "llm:main:2", "mcp:crm:lookup-1"} <= ids
    told = [event.event for event in field.events(run.id)]
    assert "vendor.sdk.note" in told
    assert told.count("vendor.dependency.recorded") == 4


def test_an_exception_fails_the_task_and_goes_on_its_way(field: quipu.Field) -> None:
    with pytest.raises(ZeroDivisionError), field.task("divide") as run:
        run.result = 1 / 0
    task = field.get_task(run.id)
    assert task.status == "FAILED"
    assert task.failure is not None
    assert (task.failure.code, task.failure.message) == ("ZeroDivisionError", "division by zero")


def test_a_result_that_is_no_json_fails_the_task(field: quipu.Field) -> None:
    with pytest.raises(quipu.InvalidRequest), field.task("odd") as run:
        run.result = object()
    assert field.get_task(run.id).status == "FAILED"


def test_what_the_run_is_told_is_what_is_recorded(field: quipu.Field) -> None:
    @dataclass
    class Answer:
        text: str
        at: datetime
        pair: tuple[int, int] = (1, 2)

    with field.task("tell") as run:
        told = run.llm("main", lambda _: Answer("yes", datetime(2026, 1, 2, tzinfo=timezone.utc)), {"q": 1})
        own = run.host("disk", lambda: 3, encode=lambda free: {"free": free}, decode=lambda kept: kept["free"])
    assert told == {"text": "yes", "at": "2026-01-02T00:00:00Z", "pair": [1, 2]}
    assert own == 3


def test_keys_are_counted_by_their_stem(field: quipu.Field) -> None:
    seen: list[str] = []
    with field.task("count") as run:
        for _ in range(2):
            run.llm("main", lambda _: 1, None)
            run.tool("crm", "find", lambda: 1)
            run.host("env", lambda: 1)
            run.now("tick")
        seen = [event.payload.get("key", "") for event in field.events(run.id)]
    for key in ["llm:main:2", "mcp:crm:find-2", "host:env:2", "time:tick", "time:tick:2"]:
        assert key in seen


def test_a_secret_is_asked_for_once_and_kept_nowhere(field: quipu.Field, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    with field.task("secretive") as run:
        assert run.secret("TOKEN") == run.secret("TOKEN") == "hunter2hunter2"
        assert run.secret("OTHER", lambda: "from elsewhere") == "from elsewhere"
        with pytest.raises(LookupError):
            run.secret("MISSING")
    assert "hunter2" not in str([event.model_dump() for event in field.events(run.id)])
    assert "hunter2" not in str(run.receipt().payload)
    assert os.environ["TOKEN"]


def test_an_answer_is_recorded_once_under_its_key(field: quipu.Field) -> None:
    with field.task("again") as run:
        assert run.keep("host:a:1", "host_fact", 1).key == "host:a:1"
        assert run.keep("host:a:1", "host_fact", 1).key == "host:a:1"
        with pytest.raises(quipu.Conflicted):
            run.keep("host:a:1", "host_fact", 2)


def test_a_coroutine_in_a_blocking_run_is_refused(field: quipu.Field) -> None:
    async def model(_: Any) -> int:
        return 1

    with pytest.raises(TypeError, match="AsyncField"), field.task("mixed") as run:
        run.llm("main", model, None)


def test_an_agent_works_under_its_own_name_and_persona(field: quipu.Field) -> None:
    with field.agent("ana").task("mine", persona="analyst") as run:
        run.summary = "done by ana"
    with field.task("other", persona=run.task.persona_id or "") as second:
        pass
    assert run.task.assigned_agent_id == "ana"
    assert run.task.persona_id == second.task.persona_id
    assert run.outcome().summary == "done by ana"


def test_a_run_that_has_not_begun_says_so(field: quipu.Field) -> None:
    run = field.task("later")
    with pytest.raises(RuntimeError, match="with"):
        _ = run.id
    assert run.title == "later"


@pytest.mark.parametrize("said", ["x" * 70_000, "é" * 40_000, "half \ud800", ""])
def test_whatever_an_exception_says_the_task_has_failed(field: quipu.Field, said: str) -> None:
    with pytest.raises(ValueError), field.task("wordy") as run:  # noqa: PT011
        raise ValueError(said)
    assert field.get_task(run.id).status == "FAILED"


def test_a_replay_that_fails_within_a_run_fails_that_run_too(field: quipu.Field) -> None:
    with field.task("source") as source:
        source.host("asked", lambda: 1)
    replay = field.replay(source.id)
    with pytest.raises(quipu.ReplayUnavailable), field.task("audit") as run:
        field.run_replay(replay.id, lambda again: again.host("never asked", lambda: 2))
    assert (field.get_task(run.id).status, field.get_task(replay.id).status) == ("FAILED", "FAILED")


def test_a_secret_in_what_an_exception_says_is_kept_nowhere(field: quipu.Field) -> None:
    def refuse(_: object) -> None:
        raise PermissionError("the key hunter2hunter2 of hunter2 is wrong")

    def work(run: quipu.Run) -> None:
        run.secret("SHORT", lambda: "hunter2")
        run.secret("KEYS", lambda: {"main": ["hunter2hunter2"]})
        run.llm("main", refuse, "hello")

    with pytest.raises(PermissionError, match="hunter2hunter2"), field.task("refused") as run:
        work(run)
    failure = field.get_task(run.id).failure
    assert failure is not None
    assert failure.message == "the key [secret] of [secret] is wrong"
    assert "hunter2" not in str([event.model_dump() for event in field.events(run.id)])
    assert "hunter2" not in str(run.receipt().payload)


def test_a_field_that_was_closed_does_not_hide_what_was_raised(server: Server, name: str) -> None:
    field = quipu.Field(server.url, field=name)

    def work() -> None:
        field.close()
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), field.task("closed"):
        work()
    with pytest.raises(quipu.ConnectionFailed) as caught:
        field.status()
    assert caught.value.code == "CLOSED"


def test_a_run_is_for_one_block(field: quipu.Field) -> None:
    run = field.task("once")
    with run:
        pass
    with pytest.raises(RuntimeError, match="begun already"), run:
        pass
    assert run.task.status == "COMPLETED"
