"""Answers larger than a request may be: kept in Artifacts by the SDK itself, whole or in pieces."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

import quipu
from quipu import _large

from .servers import Forgetful, Server, answer, handled


def large(run: quipu.Run, size: int) -> list[Any]:
    """Asks for much, in several ways."""
    text = run.llm("main", lambda _: {"text": "é" * (size // 2), "id": 2**60}, {"much": size})
    blob = run.tool("files", "read", lambda: b"\xff" * (size // 2))
    question = run.llm("main", lambda _: "short", "x" * size)
    return [len(text["text"]), text["id"], len(blob), question]


@pytest.mark.parametrize("size", [3_000_000, 4_200_000, 9_000_000, 20_000_000])
def test_a_large_answer_is_told_again(field: quipu.Field, size: int) -> None:
    with field.task("much") as run:
        run.result = large(run, size)
    again = field.run_replay(field.replay(run.id).id, lambda it: large(it, size))
    assert again.result == run.result == [size // 2, 2**60, size // 2, "short"]
    assert (again.drift, again.divergence().diverged) == ([], False)


def test_a_large_error_and_a_large_result_are_kept(field: quipu.Field) -> None:
    def broken(_: object) -> None:
        error = ValueError("large")
        error.body = ["y" * 1000] * 6000  # type: ignore[attr-defined]
        raise error

    def work(run: quipu.Run) -> Any:
        try:
            run.llm("main", broken, None)
        except ValueError as error:
            return vars(error)["body"]

    with field.task("much") as run:
        run.result = work(run)
    assert len(run.outcome().output) == 6000
    again = field.run_replay(field.replay(run.id).id, work)
    assert again.result == run.result


def test_a_server_that_takes_less_is_given_pieces(tmp_path: Any) -> None:
    least = ("--content-bytes-max", "1048576")
    with Server(tmp_path / "data", "--dev", *least) as server, quipu.Field(server.url) as field:
        with field.task("much") as run:
            run.result = large(run, 5_000_000)
        again = field.run_replay(field.replay(run.id).id, lambda it: large(it, 5_000_000))
        assert again.result == run.result


def test_pieces_survive_losing_every_first_answer(server: Server, name: str) -> None:
    proxy = Forgetful(server, lambda _: True)
    with handled(proxy) as url, quipu.Field(url, field=name) as field, field.task("much") as run:
        run.result = large(run, 5_000_000)
    with quipu.Field(server.url, field=name) as field:
        again = field.run_replay(field.replay(run.id).id, lambda it: large(it, 5_000_000))
    assert again.result == run.result


def test_pieces_that_are_not_what_was_recorded_are_refused(field: quipu.Field) -> None:
    def forged(request: BaseHTTPRequestHandler) -> None:
        answer(request, 200, b'"forged"')

    with handled(forged) as url, quipu.Field(url) as other:
        said = {"$quipu": "pieces", "artifacts": ["artifact_1"], "sha256": "0" * 64}
        plan = _large.read_again(other._core.link, said, None, None)  # noqa: SLF001
        with pytest.raises(quipu.BadAnswer, match="pieces"):
            other._driver.drive(plan)  # noqa: SLF001


def test_the_largest_answer_of_all(field: quipu.Field) -> None:
    size = 63_000_000

    def work(run: quipu.Run) -> int:
        return len(run.llm("main", lambda _: "x" * size, None))

    with field.task("most") as run:
        run.result = work(run)
    assert field.run_replay(field.replay(run.id).id, work).result == run.result == size


def test_ten_million_small_parts(field: quipu.Field) -> None:
    parts = 10_000_000

    def work(run: quipu.Run) -> list[int]:
        found = run.llm("main", lambda _: [7] * parts, None)
        return [len(found), sum(found)]

    with field.task("many") as run:
        run.result = work(run)
    assert field.run_replay(field.replay(run.id).id, work).result == run.result == [parts, 7 * parts]
