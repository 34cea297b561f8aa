"""Arguments of recorded functions: what was given live is given again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

import quipu


class Item(BaseModel):
    name: str
    price: float = 1.0
    tags: set[str] = set()


class Special(Item):
    blob: bytes = b"\xff"


@dataclass
class Order:
    item: Item
    on: date


class Size(Enum):
    SMALL = "s"


SEEN: list[Any] = []


def note(run: quipu.Run, *given: Any) -> None:
    SEEN.append(given)


@pytest.mark.parametrize(
    "given",
    [
        Item(name="tea", price=2.0, tags={"hot"}),
        Special(name="cake", price=2**60),
        Order(Item(name="tea"), date(2026, 1, 2)),
        2**80,
        b"\x00\xff",
        True,
        3.0,
        float("inf"),
        "2026-01-02",
        {"a": [1, 2.0, None]},
    ],
    ids=lambda given: type(given).__name__,
)
def test_an_argument_without_a_type_comes_back(field: quipu.Field, given: Any) -> None:
    SEEN.clear()

    @quipu.recorded(field)
    def work(run: quipu.Run, it: Any) -> None:
        SEEN.append(it)

    work.replay(work.run(given).id)
    assert SEEN[0] == SEEN[1]
    assert type(SEEN[0]) is type(SEEN[1])


def test_arguments_are_of_their_types_again(field: quipu.Field) -> None:
    SEEN.clear()

    @quipu.recorded(field)
    def work(
        run: quipu.Run,
        item: Item,
        items: list[Item],
        /,
        by_name: dict[str, Order],
        *rest: Item,
        size: Size = Size.SMALL,
        cost: Decimal = Decimal("1.10"),
        maybe: Item | None = None,
        flag: int = 0,
        **more: date,
    ) -> None:
        SEEN.append((item, items, by_name, rest, size, cost, maybe, flag, more))

    tea = Item(name="tea")
    order = Order(tea, date(2026, 1, 2))
    special = Special(name="cake")
    run = work.run(special, [tea], {"a": order}, tea, special, maybe=tea, flag=True, until=date(2026, 3, 4))
    work.replay(run.id)
    live, again = SEEN
    assert again[0] == live[0]
    assert type(again[0]) is Special
    assert again[1:3] == live[1:3]
    assert again[4:] == live[4:]
    assert again[7] is True
    assert [it.name for it in again[3]] == ["tea", "cake"]
