"""Replays: the same code is given what was recorded, and nothing is called."""

from __future__ import annotations

from typing import Any

import pytest

import quipu

from .pricing import CRM, World, price


@pytest.fixture
def source(field: quipu.Field) -> quipu.Run:
    """A recorded run."""
    with field.task("price the deal") as run:
        run.result = price(run, World())
    return run


def test_an_exact_replay_comes_to_the_same_without_a_call(field: quipu.Field, source: quipu.Run) -> None:
    world = World()
    again = field.run_replay(field.replay(source.id).id, lambda run: price(run, world))
    assert world.calls == 0
    assert again.replays
    assert again.result == source.result
    divergence = again.divergence()
    assert not divergence.diverged
    assert divergence.output.equal
    assert again.drift == []
    assert again.receipt().payload["identifiers"]["task_id"] == again.id


def test_a_changed_answer_changes_what_comes_of_it(field: quipu.Field, source: quipu.Run) -> None:
    world = World()
    replay = field.replay(source.id, overrides={CRM: {"tier": "tin"}}, reason="what if")
    with field.replaying(replay.id) as run:
        run.result = price(run, world)
    assert world.calls == 0
    assert run.result["price"] == 50
    assert run.drift == ["llm:main:2"]
    divergence = field.divergence(replay.id)
    assert [answer.key for answer in divergence.dependencies] == [CRM]
    assert [drift.key for drift in divergence.request_drift] == ["llm:main:2"]
    assert divergence.output.source["price"] == 40
    assert divergence.output.replay["price"] == 50
    deltas = {
        delta["path"].removeprefix("/replay_input/materials/"): delta for delta in run.receipt().payload["deltas"]
    }
    assert deltas[CRM]["reason"] == "what if"
    # What came of it is told too: another question, and another output.
    assert set(deltas) == {CRM, "llm:main:2/request", "/final_artifacts"}


def test_time_can_be_substituted_too(field: quipu.Field, source: quipu.Run) -> None:
    override = quipu.Override("2001-02-03T04:05:06Z", reason="long ago", visibility="public")
    replay = field.replay(source.id, overrides={"time:priced": override})
    run = field.run_replay(replay.id, lambda run: price(run, World()))
    assert run.result["at"].year == 2001


def test_a_question_that_was_never_asked_ends_the_replay(field: quipu.Field, source: quipu.Run) -> None:
    replay = field.replay(source.id)
    calls: list[Any] = []
    with pytest.raises(quipu.ReplayUnavailable) as raised, field.replaying(replay.id) as run:
        run.llm("other", calls.append, {"prompt": "?"})
    assert calls == []
    assert raised.value.first_unavailable["override_key"] == "llm:other:1"
    assert run.task.status == "FAILED"
    assert run.receipt().payload["lifecycle"]["final_state"] == "FAILED"


def test_a_call_that_failed_fails_again_in_the_same_way(field: quipu.Field) -> None:
    class OwnError(OSError):
        pass

    def work(run: quipu.Run, *, live: bool) -> list[str]:
        caught: list[str] = []

        def broken(_: Any) -> None:
            assert live, "nothing is called in a replay"
            raise TimeoutError("the model is slow")

        def odd() -> None:
            assert live, "nothing is called in a replay"
            raise OwnError("not importable")

        try:
            run.llm("main", broken, None)
        except TimeoutError as error:
            caught.append(str(error))
        try:
            run.host("odd", odd)
        except Exception as error:  # noqa: BLE001 - a local class cannot be found again
            caught.append(str(error))
        return caught

    with field.task("fragile") as source:
        source.result = work(source, live=True)
    again = field.run_replay(field.replay(source.id).id, lambda run: work(run, live=False))
    assert again.result == source.result == ["the model is slow", "not importable"]


def test_a_recorded_error_is_what_it_was(field: quipu.Field) -> None:
    def broken() -> None:
        raise KeyError("price")

    def work(run: quipu.Run) -> None:
        with pytest.raises(KeyError) as raised:
            run.host("odd", broken)
        assert type(raised.value) is KeyError

    with field.task("fragile") as source:
        work(source)
    field.run_replay(field.replay(source.id).id, work)


def test_a_secret_comes_from_an_override(field: quipu.Field) -> None:
    def work(run: quipu.Run, secret: str | None) -> int:
        assert secret is not None or run.replays
        return len(run.secret("TOKEN", lambda: secret))

    with field.task("secretive") as source:
        source.result = work(source, "twelve chars")
    replay = field.replay(source.id, overrides={"secret:TOKEN": "short"})
    assert field.run_replay(replay.id, lambda run: work(run, None)).result == 5
    with pytest.raises(quipu.QuipuError):
        field.run_replay(field.replay(source.id).id, lambda run: work(run, None))


def test_in_process_the_server_replays_by_itself(field: quipu.Field, source: quipu.Run) -> None:
    replay = field.replay(source.id, executor="in_process", overrides={CRM: {"tier": "tin"}})
    assert field.wait(replay.id).status == "COMPLETED"
    divergence = field.divergence(replay.id)
    assert divergence.diverged
    assert divergence.output.replay is None


def test_what_cannot_be_replayed_is_refused(field: quipu.Field, source: quipu.Run) -> None:
    with pytest.raises(quipu.InvalidRequest):
        field.replay(source.id, overrides={"llm:never:1": 1})
    with pytest.raises(quipu.NotFound):
        field.replay("task_none")
    with field.task("going on") as run, pytest.raises(quipu.Conflicted):
        field.replay(run.id)


def test_a_replay_task_is_canceled_and_waited_for(field: quipu.Field, source: quipu.Run) -> None:
    replay = field.replay(source.id)
    with pytest.raises(quipu.TimedOut):
        field.wait(replay.id, timeout=0.01)
    assert field.cancel(replay.id, "not needed").status == "CANCELED"


def test_a_replay_begins_at_a_checkpoint(field: quipu.Field) -> None:
    ids: list[str] = []

    def work(run: quipu.Run) -> int:
        first = run.llm("main", lambda _: 1, None)
        checkpoint = run.checkpoint("half", {"first": first})
        if checkpoint is not None:
            ids.append(checkpoint.id)
        return int(first + run.llm("main", lambda _: 2, None))

    with field.task("in two halves") as source:
        source.result = work(source)
    replay = field.replay(source.id, checkpoint_id=ids[0], overrides={"llm:main:2": 20})
    with field.replaying(replay.id) as run:
        assert run.resolve(f"checkpoint:{ids[0]}") == {"first": 1}
        run.result = work(run)
    assert run.result == 21
    with pytest.raises(quipu.InvalidRequest):
        field.replay(source.id, checkpoint_id=ids[0], overrides={"llm:main:1": 20})


def test_numbers_are_the_same_live_and_in_a_replay(field: quipu.Field) -> None:
    def say(run: quipu.Run) -> str:
        given = iter((3.0, -0.0, 0.5, 1e-7, -4.0, 2**53 - 1))
        numbers = [run.host("number", lambda: next(given)) for _ in range(6)]
        return str(run.llm("main", lambda _: "said", f"what are {numbers}"))

    with field.task("count") as run:
        run.result = say(run)
    again = field.run_replay(field.replay(run.id).id, say)
    assert (again.drift, again.divergence().diverged) == ([], False)


def test_a_new_task_within_a_replay_is_refused_and_nothing_is_called(field: quipu.Field) -> None:
    calls: list[int] = []

    def nested(run: quipu.Run) -> None:
        with field.task("inner") as inner:
            inner.host("asked", lambda: calls.append(1))

    with field.task("outer") as run:
        nested(run)
    replay = field.replay(run.id)
    with pytest.raises(RuntimeError, match="within a replay"):
        field.run_replay(replay.id, nested)
    assert len(calls) == 1
    assert field.get_task(replay.id).status == "FAILED"
