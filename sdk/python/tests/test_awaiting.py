"""The awaiting twins: the same things, in an event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import pytest

import quipu

from .pricing import CRM, World, price_async
from .servers import Server, handled, waits


def public(kind: type) -> set[str]:
    """The names that a class offers."""
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("blocking", "awaiting"),
    [(quipu.Field, quipu.AsyncField), (quipu.Agent, quipu.AsyncAgent), (quipu.Run, quipu.AsyncRun)],
)
def test_both_offer_the_same_with_the_same_arguments(blocking: type, awaiting: type) -> None:
    assert public(blocking) == public(awaiting)
    for name in public(blocking):
        one, other = getattr(blocking, name), getattr(awaiting, name)
        if callable(one):
            assert list(inspect.signature(one).parameters) == list(inspect.signature(other).parameters), name
            assert one.__doc__, name


def test_agents_record_attune_and_refuse(server: Server, name: str) -> None:
    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            ana, sam = field.agent("ana"), field.agent("sam")
            texts = [f"unit {number}" for number in range(8)]
            await asyncio.gather(*(ana.record(text, purpose="Try", draft=True) for text in texts))
            found = await sam.attune(max_units=100)
            assert sorted(unit.content or "" for unit in found.units) == texts
            with pytest.raises(quipu.InvalidRequest) as raised:
                await ana.record("x", purpose="")
            assert raised.value.code == "MISSING_INTENT"
            await ana.session("create", "q1", goal="Try")
            await ana.within("q1").record("Inside.", purpose="Try", draft=True)

    asyncio.run(main())


def test_runs_are_recorded_and_replayed(server: Server, name: str) -> None:
    async def main() -> None:
        world = World()
        async with quipu.AsyncField(server.url, field=name) as field:
            async with field.agent("pricer").task("price the deal") as run:
                assert quipu.current_run() is run
                run.result = await price_async(run, world)
            assert (run.result["price"], world.calls) == (40, 3)
            exact = await field.run_replay((await field.replay(run.id)).id, lambda run: price_async(run, world))
            assert exact.result == run.result
            assert not (await exact.divergence()).diverged
            replay = await field.replay(run.id, overrides={CRM: {"tier": "tin"}})
            async with quipu.replaying(field, replay.id) as changed:
                changed.result = await price_async(changed, world)
            assert changed.result["price"] == 50
            assert changed.drift == ["llm:main:2"]
            assert world.calls == 3
            assert (await changed.receipt()).payload["deltas"]

    asyncio.run(main())


def test_questions_that_are_asked_at_once_keep_their_order(server: Server, name: str) -> None:
    async def work(run: quipu.AsyncRun) -> list[Any]:
        async def slow(number: int) -> int:
            await asyncio.sleep((5 - number) / 100)
            return number

        return list(await asyncio.gather(*(run.llm("main", slow, number) for number in range(5))))

    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            async with field.task("at once") as run:
                run.result = await work(run)
            again = await field.run_replay((await field.replay(run.id)).id, work)
            assert again.result == run.result == list(range(5))
            assert again.drift == []

    asyncio.run(main())


def test_a_run_that_is_canceled_fails_its_task(server: Server, name: str) -> None:
    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            ids: list[str] = []
            begun = asyncio.Event()

            async def work() -> None:
                async with field.task("endless") as run:
                    ids.append(run.id)
                    begun.set()
                    await asyncio.Event().wait()

            task = asyncio.create_task(work())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await field.get_task(ids[0])).status == "FAILED"

    asyncio.run(main())


def test_the_decorator_awaits(server: Server, name: str) -> None:
    async def main() -> None:
        async with quipu.AsyncField(server.url, field=name) as field:
            ids: list[str] = []

            @quipu.recorded(field)
            async def work(run: quipu.AsyncRun, number: int) -> int:
                ids.append(run.id)
                return number * int(await run.llm("main", lambda _: 2, {"number": number}))

            assert await work(4) == 8
            again = await work.replay(ids[0], overrides={"llm:main:1": 5})
            assert again.result == 20
            async with quipu.replaying(field, (await field.replay(ids[0])).id) as run:
                run.result = await work(4)
            assert run.result == 8

    asyncio.run(main())


def test_a_server_that_hangs_is_given_up() -> None:
    hanging = threading.Event()

    async def main(url: str) -> None:
        async with quipu.AsyncField(url, timeout=0.2, retry_for=0) as field:
            with pytest.raises(quipu.TimedOut):
                await field.agent("ana").attune()

    with handled(lambda _: waits(hanging)) as url:
        asyncio.run(main(url))
        hanging.set()
