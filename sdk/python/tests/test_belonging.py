"""Which run a call belongs to: in threads, in pools, outside of all."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import quipu

from .servers import Server


def in_thread(function: Callable[[], Any]) -> Any:
    """What the function returns or raises in a plain thread."""
    found: list[Any] = []

    def body() -> None:
        try:
            found.append(function())
        except Exception as error:  # noqa: BLE001 - told to whoever waits
            found.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(60)
    return found[0]


@pytest.fixture
def calls() -> list[Any]:
    """What was called for real."""
    return []


@pytest.fixture
def ask(field: quipu.Field, calls: list[Any]) -> Callable[[int], int]:
    """A recorded function."""

    @quipu.recorded(field)
    def asking(run: quipu.Run, number: int) -> int:
        def model(request: int) -> int:
            calls.append(request)
            return request * 10

        return int(run.llm("main", model, number))

    return asking


def test_a_thread_of_the_run_belongs_to_it(field: quipu.Field, ask: Callable[[int], int], calls: list[Any]) -> None:
    def work(_run: quipu.Run) -> list[int]:
        within = [in_thread(lambda: ask(1)), in_thread(lambda: in_thread(lambda: ask(2)))]
        with ThreadPoolExecutor(4) as pool:
            return [*within, *pool.map(ask, range(3, 9))]

    with field.task("threads") as run:
        run.result = work(run)
    assert run.result == [number * 10 for number in range(1, 9)]
    again = field.run_replay(field.replay(run.id).id, work)
    assert (again.result, again.drift) == (run.result, [])
    assert sorted(calls) == list(range(1, 9))
    assert quipu.current_run() is None


def test_outside_of_any_run_nothing_is_called_while_there_is_a_replay(
    field: quipu.Field, ask: Callable[[int], int], calls: list[Any]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        # Its thread is there before any run is.
        pool.submit(lambda: None).result()
        with field.task("pool") as run:
            run.result = pool.submit(run.carry(ask), 1).result()
        with field.replaying(field.replay(run.id).id) as again:
            with pytest.raises(RuntimeError, match="outside of any run"):
                pool.submit(ask, 1).result()
            again.result = pool.submit(again.carry(ask), 1).result()
        assert again.result == run.result == 10
        assert calls == [1]
        # Without a replay it is a Task of its own, as ever.
        assert pool.submit(ask, 2).result() == 20


def test_a_pool_that_two_runs_share_belongs_to_neither(field: quipu.Field, ask: Callable[[int], int]) -> None:
    with ThreadPoolExecutor(1) as pool:
        with field.task("first") as first:
            assert pool.submit(quipu.current_run).result() is first
            seen: list[Any] = []

            def second() -> None:
                with field.task("second") as run:
                    seen.append(in_thread(quipu.current_run) is run)
                    seen.append(pool.submit(quipu.current_run).result())

            thread = threading.Thread(target=second)
            thread.start()
            thread.join(60)
        assert seen == [True, None]
        assert pool.submit(quipu.current_run).result() is None


def test_a_new_task_in_a_thread_of_a_replay_is_refused(field: quipu.Field) -> None:
    def nested(_run: quipu.Run) -> str:
        def begin() -> None:
            with field.task("inner"):
                pass

        return str(in_thread(begin))

    with field.task("outer") as run:
        nested(run)
    assert "within a replay" in field.run_replay(field.replay(run.id).id, nested).result


def test_what_awaits_is_carried_too(server: Server, name: str) -> None:
    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:

            async def seen() -> Any:
                return quipu.current_run()

            async with field.task("carried") as run:
                carried = run.carry(seen)
                assert await asyncio.to_thread(quipu.current_run) is run
                loop = asyncio.get_running_loop()
                assert await loop.run_in_executor(None, quipu.current_run) is run
            assert await seen() is None
            assert await carried() is run

    asyncio.run(main())
