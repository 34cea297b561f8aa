"""Calls that are made at once: a replay gives each the answer to what it asks, in whatever order they come."""

from __future__ import annotations

import asyncio
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import quipu

from .servers import Server

CALLS = 24


def fan_out(run: quipu.Run, seed: int) -> list[list[str]]:
    """Asks from eight threads at once, in an order that the seed draws."""
    order = [(number % 5, number) for number in range(CALLS)]
    random.Random(seed).shuffle(order)
    barrier = threading.Barrier(8)

    def ask(it: tuple[int, int]) -> list[str]:
        kind, number = it
        if number < 8:
            barrier.wait(60)
        model = run.llm("main", lambda request: f"model {request}", {"number": number})
        tool = run.tool("crm", "find", lambda kind: f"tool {kind}", {"kind": kind})
        host = run.host("disk", lambda: f"host {number}", {"number": number})
        return [str(number), model, tool, host]

    # Those that wait for each other begin together.
    order.sort(key=lambda it: it[1] >= 8)
    with ThreadPoolExecutor(8) as pool:
        return sorted(pool.map(ask, order), key=lambda said: int(said[0]))


def test_threads_get_their_own_answers(field: quipu.Field) -> None:
    with field.task("at once") as run:
        run.result = fan_out(run, 0)
    assert run.result[7] == ["7", "model {'number': 7}", "tool 2", "host 7"]
    for seed in range(1, 4):
        again = field.run_replay(field.replay(run.id).id, lambda it, seed=seed: fan_out(it, seed))  # type: ignore[misc]
        assert (again.result, again.drift) == (run.result, [])


def test_what_awaits_gets_its_own_answers(server: Server, name: str) -> None:
    async def work(run: quipu.AsyncRun, numbers: list[int]) -> dict[int, str]:
        async def ask(number: int) -> tuple[int, str]:
            await asyncio.sleep(random.Random(number).random() / 50)
            return number, str(await run.llm("main", lambda request: f"for {request}", number))

        return dict(await asyncio.gather(*(ask(number) for number in numbers)))

    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            async with field.task("at once") as run:
                first = await work(run, list(range(12)))
            again = await field.run_replay((await field.replay(run.id)).id, lambda it: work(it, list(range(12))[::-1]))
            assert again.result == {str(number): said for number, said in first.items()} or again.result == first
            assert again.drift == []

    asyncio.run(main())


def test_one_that_asks_otherwise_gets_what_was_asked_in_its_place(field: quipu.Field) -> None:
    def work(run: quipu.Run, asked: list[str]) -> list[Any]:
        return [run.llm("main", str.upper, it) for it in asked]

    with field.task("in order") as run:
        run.result = work(run, ["a", "b", "b", "c"])
    for asked, told, drift in (
        (["a", "b", "b", "c"], ["A", "B", "B", "C"], []),
        (["a", "x", "b", "c"], ["A", "B", "B", "C"], ["llm:main:2"]),
        (["c", "b", "a", "b"], ["C", "B", "A", "B"], []),
        (["x", "b", "b", "c"], ["A", "B", "B", "C"], ["llm:main:1"]),
        (["b", "c"], ["B", "C"], []),
    ):
        again = field.run_replay(field.replay(run.id).id, lambda it, asked=asked: work(it, asked))  # type: ignore[misc]
        assert (again.result, again.drift) == (told, drift), asked
