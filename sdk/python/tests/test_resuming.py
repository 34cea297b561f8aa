"""Runs that are killed and go on in another process: nothing that was paid for is asked again."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import quipu

from .killed import LINES, work
from .servers import Server, answer, handled

HERE = Path(__file__).parent


@dataclass
class Model:
    """A model that costs something, over HTTP: it counts what it is asked, and answers each key once."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    paid: dict[str, str] = field(default_factory=dict)
    before_answering: Callable[[str], None] = lambda _prompt: None

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        """Answers one call."""
        prompt = json.loads(request.rfile.read(int(request.headers["Content-Length"])))["prompt"]
        del request.headers["Content-Length"]
        self.asked.append(prompt)
        text = self.paid.setdefault(request.headers["Idempotency-Key"], f"answer {len(self.paid) + 1}")
        self.before_answering(prompt)
        answer(request, 200, json.dumps({"text": text}).encode())


@pytest.fixture
def model() -> Iterator[Model]:
    """A model that runs while the test does."""
    made = Model()
    with handled(made.handle) as url:
        made.url = url
        yield made


def process(server: Server, name: str, model: Model, **variables: str) -> subprocess.Popen[str]:
    """The agent in a process of its own."""
    known = {"QUIPU_URL": server.url, "QUIPU_FIELD": name, "MODEL_URL": model.url, "PYTHONPATH": str(HERE.parent)}
    program = [sys.executable, "-m", "tests.killed"]
    environment = {**os.environ, **known, **variables}
    return subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True, cwd=HERE.parent)


def ended(running: subprocess.Popen[str]) -> int:
    """How it ended."""
    running.communicate(timeout=120)
    return running.returncode


def told(field: quipu.Field, task: str, event: str) -> int:
    return [it.event for it in field.events(task)].count(event)


@pytest.mark.parametrize("awaits", [False, True], ids=["blocking", "awaiting"])
def test_killed_after_each_line_each_call_is_made_exactly_once(
    field: quipu.Field, server: Server, name: str, model: Model, *, awaits: bool
) -> None:
    how = {"AWAIT": "yes"} if awaits else {}
    for line in range(LINES + 1):
        model.asked.clear()
        task = field.submit("three calls").id
        assert ended(process(server, name, model, QUIPU_TASK=task, KILL_AT=str(line), **how)) == -signal.SIGKILL
        before = list(model.asked)
        assert ended(process(server, name, model, QUIPU_TASK=task, **how)) == 0
        assert len(model.asked) == len(set(model.asked)) == 3, (line, before, model.asked)
        found = field.get_task(task)
        assert (found.status, field.outcome(task).summary) == ("COMPLETED", "4 steps")
        assert field.outcome(task).output["resumed"] == (line > 0)
        assert told(field, task, "vendor.dependency.recorded") == 4
        assert told(field, task, "vendor.test.step") == 1
        again = field.run_replay(field.replay(task).id, work)
        assert again.drift == []
        assert again.result["steps"] == field.outcome(task).output["steps"]
    assert len(model.paid) == 3 * (LINES + 1)


def test_killed_at_several_lines_one_after_the_other(
    field: quipu.Field, server: Server, name: str, model: Model
) -> None:
    task = field.submit("three calls").id
    for line in (1, 3, 3, 6, 8):
        assert ended(process(server, name, model, QUIPU_TASK=task, KILL_AT=str(line))) == -signal.SIGKILL
    assert ended(process(server, name, model, QUIPU_TASK=task)) == 0
    # Started once more by who did not see that it is over, it does nothing.
    assert ended(process(server, name, model, QUIPU_TASK=task)) == 0
    assert len(model.asked) == 3
    assert told(field, task, "task.completed") == 1


def test_killed_between_answer_and_record_the_call_can_be_known_again(
    field: quipu.Field, server: Server, name: str, model: Model
) -> None:
    task = field.submit("three calls").id
    processes: list[subprocess.Popen[str]] = []

    def kill(prompt: str) -> None:
        if "second" in prompt and len(processes) == 1:
            processes[0].kill()

    model.before_answering = kill
    processes.append(process(server, name, model, QUIPU_TASK=task))
    assert ended(processes[0]) == -signal.SIGKILL
    processes.append(process(server, name, model, QUIPU_TASK=task))
    assert ended(processes[1]) == 0
    # It was sent twice, under one key: who answers takes no money for the second time.
    assert len(model.asked) == 4
    assert len(model.paid) == 3


def test_a_new_task_is_made_where_none_is_named(field: quipu.Field, server: Server, name: str, model: Model) -> None:
    assert ended(process(server, name, model)) == 0
    (task,) = field.tasks(status="COMPLETED")
    assert field.outcome(task.id).output["resumed"] is False


def test_the_same_function_replays_and_replays_strictly(
    field: quipu.Field, server: Server, name: str, model: Model
) -> None:
    assert ended(process(server, name, model)) == 0
    (task,) = field.tasks(status="COMPLETED")
    model.url = "http://127.0.0.1:1"
    exact = field.replay(task.id)
    assert ended(process(server, name, model, QUIPU_TASK=exact.id)) == 0
    assert field.get_task(exact.id).status == "COMPLETED"
    strict = field.replay(task.id, strict=True)
    assert ended(process(server, name, model, QUIPU_TASK=strict.id)) == 0
    changed = field.replay(task.id, strict=True, overrides={"llm:main:1": "nothing"})
    assert ended(process(server, name, model, QUIPU_TASK=changed.id)) == 1
    failure = field.get_task(changed.id).failure
    assert failure is not None
    assert (failure.code, failure.details["first_drift"]["key"]) == ("replay_drifted", "llm:main:2")
    assert len(model.asked) == 3


def test_a_strict_replay_raises_what_drifted(field: quipu.Field) -> None:
    def work(run: quipu.Run, questions: list[str]) -> list[str]:
        return [run.llm("main", lambda asked: asked.upper(), question) for question in questions]

    with field.task("ask") as run:
        run.result = work(run, ["a", "b"])
    for questions, what, key in ((["a", "c"], "request", "llm:main:2"), (["a"], "not_asked", "llm:main:2")):
        replay = field.replay(run.id, strict=True)
        with pytest.raises(quipu.ReplayDrifted) as drifted:
            field.run_replay(replay.id, functools.partial(work, questions=questions))
        assert (drifted.value.first_drift["what"], drifted.value.first_drift["key"]) == (what, key)
        assert field.get_task(replay.id).status == "FAILED"


@contextmanager
def lost(run: quipu.Run) -> Iterator[quipu.Run]:
    """A run whose worker is gone at the end of the block, without a word."""
    with run:
        yield run
        run.leave()


def test_parallel_calls_of_a_lost_run_get_their_own_answers(field: quipu.Field) -> None:
    called: list[int] = []
    lock = threading.Lock()

    def ask(number: int) -> int:
        with lock:
            called.append(number)
        return number * 10

    with lost(field.task("many")) as run:
        for number in (3, 1, 4):
            run.llm("main", ask, number)
    with field.resume(run.id) as again:
        again.result = [again.llm("main", ask, number) for number in range(6)]
    assert again.result == [number * 10 for number in range(6)]
    assert sorted(called) == list(range(6))

    def backwards(run: quipu.Run) -> list[int]:
        return [run.llm("main", ask, number) for number in reversed(range(6))]

    replayed = field.run_replay(field.replay(run.id).id, backwards)
    assert replayed.result == again.result[::-1]
    assert replayed.drift == []


def test_answers_of_every_kind_are_recalled(field: quipu.Field, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    called: list[str] = []

    def once(name: str, value: Any) -> Callable[..., Any]:
        def call(*_: Any, **__: Any) -> Any:
            called.append(name)
            if isinstance(value, Exception):
                raise value
            return value

        return call

    def work(run: quipu.Run) -> list[Any]:
        told = [
            run.llm("main", once("llm", {"id": 2**60, "f": 1.0}), "?"),
            run.tool("crm", "find", once("tool", b"\xff"), {"q": 1}),
            run.host("disk", once("host", "x" * 5_000_000)),
            run.secret("TOKEN"),
            run.now("begun"),
            run.answer("host:own", "host_fact", once("own", 7), {"q": 2}),
        ]
        with pytest.raises(TimeoutError):
            run.llm("main", once("error", TimeoutError("slow")), "!")
        return told

    with lost(field.task("all")) as run:
        first = work(run)
    with field.resume(run.id) as again:
        assert again.resumes
        second = work(again)
    assert second == first
    assert called == ["llm", "tool", "host", "own", "error"]


def test_a_thousand_answers_are_there_again(field: quipu.Field) -> None:
    def never(_: Any) -> Any:
        raise AssertionError

    with lost(field.task("much")) as run:
        for number in range(1000):
            run.llm("main", lambda asked: asked + 1, number)
    with field.resume(run.id) as again:
        assert [again.llm("main", never, number) for number in range(1000)] == list(range(1, 1001))


def test_what_was_never_recorded_is_asked_under_a_number_of_its_own(field: quipu.Field) -> None:
    with lost(field.task("ask")) as run:
        run.llm("main", lambda _: "old", "question of yesterday")
    with field.resume(run.id) as again:
        assert again.llm("main", lambda _: "new", "question of today") == "new"
        again.result = "done"
    keys = [it.payload.get("key") for it in field.events(run.id) if it.event == "vendor.dependency.recorded"]
    assert keys == ["llm:main:1", "llm:main:2"]


def test_a_task_that_another_has_is_waited_for(field: quipu.Field) -> None:
    with lost(field.task("ask", agent="first", lease=0.7)) as run:
        run.llm("main", lambda _: "paid", None)
    with pytest.raises(quipu.Conflicted), field.resume(run.id, agent="second"):
        pass
    with field.resume(run.id, agent="second", wait=30) as again:
        again.result = again.llm("main", lambda _: "paid again", None)
    assert again.result == "paid"
    assert field.get_task(run.id).assigned_agent_id == "second"


def test_a_recorded_function_goes_on_with_its_arguments(field: quipu.Field) -> None:
    called: list[int] = []

    @quipu.recorded(field)
    def add(run: quipu.Run, first: int, *, blob: bytes) -> int:
        def model(request: int) -> int:
            called.append(request)
            if len(called) == 2:
                raise KeyboardInterrupt
            return request

        return int(run.llm("main", model, first)) + int(run.llm("main", model, len(blob)))

    task = field.submit("add", input=add._input((2,), {"blob": b"\xff" * 3}))  # noqa: SLF001 - as another process does
    with lost(field.resume(task.id)) as run, pytest.raises(KeyboardInterrupt):
        add(2, blob=b"\xff" * 3)
    assert add.resume(run.id).result == 5
    assert called == [2, 3, 3]
    assert add.resume(run.id).result == 5
    assert len(called) == 3
