"""What an adapter reads while a run is going on, as an answer of that run: recorded, and in a replay told from the
recording. What it would write, a replay does not write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._exact import as_question, exact, restored
from .._link import Link
from .._plans import Live, Plan
from ..run import current_run

T = TypeVar("T")


def is_replaying() -> bool:
    """Whether this code is in the block of a replay."""
    run = current_run()
    return run is not None and run.replays


def asked(
    link: Link,
    stem: str,
    request: Any,
    live: Callable[[], Plan[T]],
    *,
    encode: Callable[[T], Any],
    decode: Callable[[Any], T],
) -> Plan[T]:
    """What `live` finds, under `host:<stem>:<n>` where there is a run."""
    run = current_run()
    if run is None:
        return (yield from live())
    core = run._core  # noqa: SLF001 - of this package

    def of_run(plan: Plan[Any]) -> Plan[Any]:
        if core.link == link:
            return (yield from plan)
        # The run is of another Field: only its own connection leads there.
        return (yield Live(lambda: run._driver.drive(plan)))  # noqa: SLF001

    question = as_question(request)
    key, recorded = yield from of_run(core.key_of(f"host:{stem}", question))
    there, value = yield from of_run(core.recalled(key, recorded, question))
    if there:
        return decode(restored(value))
    found = yield from live()
    yield from of_run(core.keep(key, "host_fact", exact(encode(found)), question))
    return found


def written_once(what: str, *said: str) -> str | None:
    """An id for what an adapter writes within a run: the same one where a run that goes on writes it again."""
    run = current_run()
    if run is None or run.replays:
        return None
    return run._core.once(what, said)  # noqa: SLF001 - of this package
