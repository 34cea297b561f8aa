"""The decorator: calls are Tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import quipu

from .servers import Server


def test_a_call_is_a_task_named_after_the_function(field: quipu.Field) -> None:
    calls: list[Any] = []

    def model(request: Any) -> int:
        calls.append(request)
        return 10

    @quipu.recorded(field, persona="adder", agent="calc")
    def add(run: quipu.Run, /, first: int, *more: int, factor: int = 1, **rest: int) -> int:
        """Adds."""
        weight = run.llm("main", model, {"first": first})
        return (first + sum(more) + sum(rest.values())) * factor * int(weight)

    @quipu.recorded(field)
    def outer(run: quipu.Run, number: int) -> int:
        return add(number) + add(number, 1)

    assert add.__doc__ == "Adds."
    source = outer.run(1)
    assert source.result == 30
    assert len(calls) == 2
    again = outer.replay(source.id, overrides={"llm:main:2": 100})
    assert again.result == 10 + 200
    assert len(calls) == 2
    assert again.task.input["arguments"] == {"number": 1}
    assert again.task.input["function"].endswith("outer")
    assert not add(1, 2, factor=3, z=4) - 210


def test_arguments_come_back_as_they_were_given(field: quipu.Field) -> None:
    seen: list[Any] = []
    ids: list[str] = []

    @quipu.recorded(field)
    def note(run: quipu.Run, a: int, /, b: str, *rest: int, c: bool = True, **more: int) -> None:
        ids.append(run.id)
        seen.append((a, b, rest, c, more))

    note(1, "x", 2, 3, c=False, d=4)
    note.replay(ids[0])
    assert seen[0] == seen[1]
    assert note.replay(ids[0]).task.parent_task_id == ids[0]


def test_a_task_of_another_function_is_not_replayed(field: quipu.Field) -> None:
    @quipu.recorded(field)
    def work(run: quipu.Run) -> None:
        pass

    with field.task("by hand") as run:
        pass
    with pytest.raises(ValueError, match="not recorded by"):
        work.replay(run.id)


def test_a_block_replays_recorded_functions(field: quipu.Field) -> None:
    ids: list[str] = []

    @quipu.recorded(field)
    def work(run: quipu.Run, text: str) -> str:
        ids.append(run.id)
        return str(run.llm("main", lambda _: "live", {"text": text}))

    assert work("a") == "live"
    with quipu.replaying(field, field.replay(ids[0], overrides={"llm:main:1": "changed"}).id) as run:
        run.result = work("a")
    assert run.result == "changed"


def test_without_a_field_it_is_the_environment_s(server: Server, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUIPU_URL", server.url)
    monkeypatch.setenv("QUIPU_FIELD", name)

    @quipu.recorded
    def work(run: quipu.Run, number: int) -> str:
        assert number == 3
        return run.id

    with quipu.Field() as field:
        assert field.get_task(work(3)).status == "COMPLETED"


def test_an_async_function_needs_its_field() -> None:
    async def work(run: quipu.AsyncRun) -> None:
        pass

    with pytest.raises(TypeError, match="AsyncField"):
        quipu.recorded(work)  # type: ignore[arg-type]


def test_what_cannot_be_recorded_is_refused_where_it_is_written(field: quipu.Field) -> None:
    def pieces(run: quipu.Run) -> Iterator[int]:
        yield 1

    async def work(run: quipu.AsyncRun) -> None:
        pass

    with pytest.raises(TypeError, match="generator"):
        quipu.recorded(field)(pieces)
    with pytest.raises(TypeError, match="AsyncField"):
        quipu.recorded(field)(work)  # type: ignore[arg-type]


def test_a_function_of_the_other_kind_than_the_run_around_it_is_refused(
    field: quipu.Field, server: Server, name: str
) -> None:
    called: list[int] = []

    @quipu.recorded(field)
    def work(run: quipu.Run) -> None:
        called.append(1)

    async def within() -> None:
        async with quipu.AsyncField(server.url, field=name) as other:

            @quipu.recorded(other)
            async def wait(run: quipu.AsyncRun) -> None:
                called.append(2)

            with field.task("blocks"), pytest.raises(TypeError, match="needs a Field"):
                await wait()
            async with other.task("awaits"):
                with pytest.raises(TypeError, match="needs an AsyncField"):
                    work()

    asyncio.run(within())
    assert not called
