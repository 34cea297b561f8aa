"""Servers that are killed, and answers that get lost: nothing is lost, and nothing is recorded twice."""

from __future__ import annotations

import asyncio
import itertools
import threading

import quipu

from .pricing import World, price, price_async
from .servers import Forgetful, Server, handled

THREADS = 4
KILLS = 3
RECORDS = 40


def contents(field: quipu.Field) -> list[str]:
    """What all agents recorded, from the server."""
    found = field.agent("reader").attune(max_units=10_000)
    assert found.context_budget.units_available == found.context_budget.units_returned
    return sorted(unit.content or "" for unit in found.units)


def test_killed_under_four_threads_nothing_is_lost_or_doubled(own_server: Server) -> None:
    kept: list[tuple[str, str]] = []
    progress = threading.Semaphore(0)
    with quipu.Field(own_server.url, retry_for=120) as field:

        def work(worker: int) -> None:
            agent = field.agent(f"agent-{worker % 2}")
            for number in range(RECORDS):
                text = f"worker {worker} number {number}"
                answer = agent.record(text, purpose="Try", confidence=0.5, reasoning="Counted")
                kept.append((answer.memory_unit_id, text))
                progress.release()

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(THREADS)]
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            for _ in range(THREADS * RECORDS // (KILLS + 1)):
                assert progress.acquire(timeout=120)
            own_server.kill()
            own_server.start()
        for thread in threads:
            thread.join(timeout=120)
        assert len({unit for unit, _ in kept}) == THREADS * RECORDS
        assert contents(field) == sorted(text for _, text in kept)


def test_an_answer_that_was_lost_on_the_way_is_asked_for_again(server: Server, name: str) -> None:
    proxy = Forgetful(server, lambda _: True)
    with handled(proxy) as url, quipu.Field(url, field=name) as field:
        ana = field.agent("ana")
        texts = [f"unit {number}" for number in range(5)]
        ids = [ana.record(text, purpose="Try", draft=True).memory_unit_id for text in texts]
        assert len(set(ids)) == 5
        assert proxy.lost.count("/v1/record") == 5
        assert contents(field) == texts


def test_a_recorded_run_survives_losing_every_first_answer(server: Server, name: str) -> None:
    proxy = Forgetful(server, lambda _: True)
    world = World()
    with handled(proxy) as url, quipu.Field(url, field=name) as field:
        with field.task("price the deal") as run:
            run.result = price(run, world)
            run.checkpoint("priced")
        again = field.run_replay(field.replay(run.id).id, lambda run: price(run, world))
    assert world.calls == 3
    assert not again.result["price"] - 40
    with quipu.Field(server.url, field=name) as field:
        told = [event.event for event in field.events(run.id)]
        assert told.count("vendor.dependency.recorded") == 4
        assert told.count("task.completed") == 1
        assert not field.divergence(again.id).diverged
    assert len(proxy.lost) > 10


def test_a_run_goes_on_when_its_server_comes_back(own_server: Server) -> None:
    with quipu.Field(own_server.url, retry_for=120) as field:
        with field.task("long work") as run:
            run.llm("main", lambda _: 1, None)
            own_server.kill()
            restart = threading.Timer(0.3, own_server.start)
            restart.start()
            run.llm("main", lambda _: 2, None)
            restart.join()
            run.result = "done"
        assert run.outcome().output == "done"


def test_awaiting_clients_survive_a_kill_too(own_server: Server) -> None:
    async def main() -> None:
        async with quipu.AsyncField(own_server.url, retry_for=120) as field:
            numbers = itertools.count()

            async def work(worker: int) -> None:
                agent = field.agent(f"agent-{worker}")
                for number in range(10):
                    await agent.record(f"{worker}/{number}", purpose="Try", draft=True)
                    if next(numbers) == 15:
                        await asyncio.to_thread(own_server.kill)
                        await asyncio.to_thread(own_server.start)

            await asyncio.gather(*(work(worker) for worker in range(THREADS)))
            async with field.task("price the deal") as run:
                run.result = await price_async(run, World())

    asyncio.run(main())
    with quipu.Field(own_server.url) as field:
        expected = sorted(f"{worker}/{number}" for worker in range(THREADS) for number in range(10))
        assert contents(field) == expected
