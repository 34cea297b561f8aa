"""Workers: leases that are kept alive, queues, attempts, and an end that is asked for."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

import quipu
from quipu import _lease

from .servers import Server


def is_free(field: quipu.Field, task: str) -> bool:
    """Whether another worker could have it now."""
    try:
        with field.resume(task, agent="thief"):
            return True
    except quipu.Conflicted:
        return False


def tried(field: quipu.Field, task: str) -> list[bool]:
    """What another worker is told in the time of three leases."""
    pause = threading.Event()
    found = []
    for _ in range(15):
        pause.wait(0.3)
        found.append(is_free(field, task))
    return found


def test_a_call_longer_than_the_lease_is_not_lost(field: quipu.Field) -> None:
    with field.task("slow", agent="worker", lease=1.5) as run:
        seen = run.llm("main", lambda _: tried(field, run.id), None)
    assert seen == [False] * 15
    assert run.task.status == "COMPLETED"


def test_what_awaits_keeps_its_lease_too(server: Server, name: str) -> None:
    async def main() -> None:
        with quipu.Field(server.url, field=name) as other:
            async with quipu.AsyncField(server.url, field=name) as field:

                async def slow(_: object) -> list[bool]:
                    return await asyncio.to_thread(tried, other, run.id)

                run = field.task("slow", agent="worker", lease=1.5)
                async with run:
                    assert await run.llm("main", slow, None) == [False] * 15
                assert run.task.status == "COMPLETED"
                assert not [it for it in asyncio.all_tasks() if it.get_name() == "quipu-heartbeat"]

    asyncio.run(main())


def test_signs_of_life_end_with_the_run(field: quipu.Field) -> None:
    def beating() -> list[threading.Thread]:
        return [it for it in threading.enumerate() if it.name == "quipu-heartbeat"]

    with field.task("short", lease=0.3):
        (one,) = beating()
        assert one.daemon
    one.join(60)
    assert not one.is_alive()


def test_who_has_lost_the_task_asks_nobody_any_more(field: quipu.Field, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []
    pause = threading.Event()
    # As if this process had been stopped for a while.
    monkeypatch.setattr(_lease, "_pause", lambda _core: 1.0)

    def work() -> None:
        with field.task("slow", agent="worker", lease=0.2) as run:
            run.llm("main", called.append, "first")
            with field.resume(run.id, agent="another", wait=30):
                while run._core.lost is None:  # noqa: SLF001
                    pause.wait(0.1)
                run.llm("main", called.append, "second")

    with pytest.raises(quipu.Conflicted):
        work()
    assert called == ["first"]


def test_a_queue_is_worked_off(field: quipu.Field) -> None:
    submitted = [field.submit(f"task {number}", queue="pricing").id for number in range(3)]
    other = field.submit("another", queue="other").id
    assert {task.id for task in field.tasks(queue="pricing", status="SUBMITTED")} == set(submitted)

    def work(run: quipu.Run) -> str:
        return str(run.llm("main", str.upper, run.title))

    assert field.work(work, queue="pricing", most=3) == 3
    assert [field.outcome(task).output for task in submitted] == ["TASK 0", "TASK 1", "TASK 2"]
    assert field.get_task(other).status == "SUBMITTED"
    stop = threading.Event()
    stop.set()
    assert field.work(work, queue="pricing", stop=stop) == 0


def test_a_task_that_fails_is_tried_again_and_what_was_paid_for_is_not_asked_again(field: quipu.Field) -> None:
    called: list[str] = []

    def work(run: quipu.Run) -> str:
        def paid(asked: str) -> str:
            called.append(asked)
            return "paid"

        first = run.llm("main", paid, "first")

        def flaky(asked: str) -> str:
            called.append(asked)
            if called.count(asked) < 3:
                raise TimeoutError("not now")
            return "at last"

        return f"{first} {run.llm('main', flaky, 'second')}"

    task = field.submit("flaky", queue="q", retry={"max_attempts": 5, "backoff_ms": 1}).id
    assert field.work(work, queue="q", most=3) == 3
    assert field.outcome(task).output == "paid at last"
    assert called == ["first", "second", "second", "second"]


def test_attempts_that_are_used_up_and_errors_that_no_attempt_cures(field: quipu.Field) -> None:
    def work(run: quipu.Run) -> None:
        raise LookupError(run.title)

    retry = {"max_attempts": 2, "backoff_ms": 0}
    dead = field.submit("dead", queue="q", retry=retry).id
    assert field.work(work, queue="q", most=2) == 2
    failure = field.get_task(dead).failure
    assert failure is not None
    assert failure.code == "attempts_exhausted"
    assert [task.id for task in field.tasks(dead_letter=True)] == [dead]
    hopeless = field.submit("hopeless", queue="q", retry=retry).id
    assert field.work(work, queue="q", retry_on=OSError, most=1) == 1
    assert field.get_task(hopeless).status == "FAILED"
    assert [task.id for task in field.tasks(dead_letter=True)] == [dead]


WORKER = """
import sys, time
import quipu

def work(run):
    print("begun", flush=True)
    time.sleep(1.5)
    return "done"

with quipu.Field() as field:
    print(field.work(work, queue="q"), flush=True)
"""
AWAITING = """
import asyncio
import quipu

async def work(run):
    print("begun", flush=True)
    await asyncio.sleep(1.5)
    return "done"

async def main():
    async with quipu.AsyncField() as field:
        print(await field.work(work, queue="q"), flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("program", [WORKER, AWAITING], ids=["blocking", "awaiting"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_worker_that_is_asked_to_end_does_what_it_has_begun(
    field: quipu.Field, server: Server, name: str, program: str, number: signal.Signals
) -> None:
    tasks = [field.submit("slow", queue="q").id for _ in range(2)]
    environment = {**os.environ, "QUIPU_URL": server.url, "QUIPU_FIELD": name}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "begun\n"
        worker.send_signal(number)
        assert worker.stdout.read() == "1\n"
    assert worker.returncode == 0
    assert [field.get_task(task).status for task in tasks] == ["COMPLETED", "SUBMITTED"]


def test_two_that_claim_at_once_do_not_get_the_same(field: quipu.Field, server: Server, name: str) -> None:
    done: list[str] = []
    tasks = {field.submit("one", queue="q").id for _ in range(12)}

    def worker(agent: str) -> Callable[[], None]:
        def loop() -> None:
            with quipu.Field(server.url, field=name) as own:
                own.work(lambda run: done.append(run.id), queue="q", agent=agent, most=4)

        return loop

    threads = [threading.Thread(target=worker(f"worker-{number}")) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(done) == sorted(tasks)
