"""What agents do with memory, through a real server."""

from __future__ import annotations

import pytest

import quipu


def test_one_agent_records_and_another_attunes(field: quipu.Field) -> None:
    ana = field.agent("ana", role="researcher", interests=["bikes"])
    sam = field.agent("sam", role="strategist")
    kept = ana.record(
        "The market for cargo bikes grows by 23 percent a year.",
        purpose="Size the market",
        confidence=0.8,
        reasoning="Two reports",
        evidence=["report A"],
        task_id="task-eu",
    )
    found = sam.attune("how fast does the market grow", max_units=5, explain=True)
    assert [unit.id for unit in found.units] == [kept.memory_unit_id]
    (first,) = found.record
    assert first.memory_unit.source is not None
    assert first.memory_unit.source.agent_id == "ana"
    assert first.memory_unit.confidence is not None
    assert first.memory_unit.confidence.evidence == ["report A"]
    assert first.relevance_reason
    assert "23 percent" in found.as_text()
    assert field.unit(kept.memory_unit_id).type == "finding"
    assert {agent.id: agent.role for agent in field.agents()} == {"ana": "researcher", "sam": "strategist"}


def test_names_that_no_header_could_hold_are_kept(field: quipu.Field) -> None:
    agent = field.agent("Zoë 🦉", role="überprüfer")
    kept = agent.record("naïve\u2028text \x85 🦉", purpose="Try", confidence=1, reasoning="Seen")
    assert agent.unit(kept.memory_unit_id).content == "naïve\u2028text \x85 🦉"
    assert agent.retract(kept.memory_unit_id, purpose="Was a trial").was == "active"
    (back,) = agent.restore([kept.memory_unit_id], purpose="Was none").restored
    assert (back.was, back.status) == ("retracted", "active")


def test_a_unit_in_ids_only_has_nothing_but_its_id(field: quipu.Field) -> None:
    field.agent("ana").record("One.", purpose="Try", draft=True)
    (unit,) = field.agent("sam").attune(format="ids_only").units
    assert unit.id.startswith("mem-")
    assert unit.content is None


def test_a_conflict_is_detected_merged_and_told(field: quipu.Field) -> None:
    ana, bo, sam = field.agent("ana"), field.agent("bo"), field.agent("sam", role="strategist")
    first = ana.record("23% CAGR", purpose="Size", confidence=0.82, reasoning="Reports")
    second = bo.record("14% CAGR", purpose="Size", confidence=0.7, reasoning="One", contradicts=first.memory_unit_id)
    (conflict_id,) = second.conflicts_detected
    (conflict,) = sam.detect("list", status=["detected"]).conflicts
    assert conflict.id == conflict_id == field.conflicts()[0].id
    merged = sam.merge(conflict_id, "confidence_weighted", rationale="Three reports agree")
    assert merged.conflict.resolution is not None
    assert merged.conflict.resolution.winner_id == first.memory_unit_id
    with pytest.raises(quipu.InvalidTransition) as raised:
        sam.merge(conflict_id, "confidence_weighted", rationale="Again")
    assert raised.value.code == "INVALID_TRANSITION"
    told = sam.replay("conflict", conflict_id)
    assert told.agents_involved == ["ana", "bo", "sam"]
    assert "RECORD" in [event.event_type for event in told.timeline]


def test_a_task_is_coordinated_and_handed_over(field: quipu.Field) -> None:
    ana, sam = field.agent("ana"), field.agent("sam")
    sam.register()
    made = ana.coordinate("create", "sizing", title="Size the market", purpose="Plan", assignee="ana")
    assert made.task is not None
    assert made.task.status == "assigned"
    offered = ana.handoff("offer", task_id="sizing", to_agent="sam", reason="Shift ends", context={"summary": "Half"})
    assert offered.handoff is not None
    assert offered.handoff.context.summary == "Half"
    assert sam.handoff("accept", handoff_id=offered.handoff.id).status == "accepted"
    sam.coordinate("start", "sizing")
    done = sam.coordinate("complete", "sizing")
    assert done.task is not None
    assert (done.task.status, done.task.assigned_to) == ("completed", "sam")
    assert [task.id for task in ana.coordinate("list").tasks] == ["sizing"]


def test_what_is_recorded_within_a_session_stays_there(field: quipu.Field) -> None:
    ana, sam = field.agent("ana"), field.agent("sam", authority=4)
    ana.session("create", "q1", goal="Enter the market")
    ana.within("q1").record("Inside.", purpose="Plan", draft=True)
    assert sam.attune().units == []
    with pytest.raises(quipu.PermissionDenied):
        sam.within("q1").attune()
    sam.session("join", "q1")
    assert [unit.content for unit in sam.within("q1").attune().units] == ["Inside."]


def test_compact_archives(field: quipu.Field) -> None:
    ana = field.agent("ana")
    ana.record("Old.", purpose="Try", type="assumption", confidence=0.5, reasoning="Guess")
    assert ana.compact("archive", types=["assumption"], reason="Old").units_affected == 1
    assert field.agent("sam").attune().units == []


def test_an_agent_that_left_comes_back_with_its_next_word(field: quipu.Field) -> None:
    ana = field.agent("ana", role="researcher")
    ana.record("Here.", purpose="Try", draft=True)
    field.agent("boss").deregister("ana")
    assert [agent.id for agent in field.agents()] == ["boss"]
    ana.record("Back.", purpose="Try", draft=True)
    assert [agent.role for agent in field.agents() if agent.id == "ana"] == ["researcher"]


def test_two_objects_of_one_agent_are_one_agent(field: quipu.Field) -> None:
    field.agent("ana", role="researcher").record("A.", purpose="Try", draft=True)
    field.agent("ana", role="another").record("B.", purpose="Try", draft=True)
    assert [agent.role for agent in field.agents()] == ["researcher"]
    assert field.status().units["total"] == 2
    assert field.log(limit=1).next_from == 2


def test_a_message_id_of_one_s_own_is_carried_out_once(field: quipu.Field) -> None:
    ana = field.agent("ana")
    first = ana.record("Once.", purpose="Try", draft=True, message_id="import-7")
    again = field.agent("ana").record("Once.", purpose="Try", draft=True, message_id="import-7")
    assert first.memory_unit_id == again.memory_unit_id
    with pytest.raises(quipu.MessageIdReused):
        ana.record("Another.", purpose="Try", draft=True, message_id="import-7")


def test_several_units_are_recorded_together_or_not_at_all(field: quipu.Field) -> None:
    ana = field.agent("ana")
    units = [quipu.memory(f"Fact {number}.", purpose="Try", draft=True) for number in range(3)]
    kept = ana.record_all(units, message_id="import-1")
    assert [ana.unit(one.memory_unit_id).content for one in kept.units] == ["Fact 0.", "Fact 1.", "Fact 2."]
    assert field.agent("ana").record_all(units, message_id="import-1") == kept
    with pytest.raises(quipu.InvalidRequest, match=r"units\[1\]"):
        ana.record_all([units[0], quipu.memory("No reason.", purpose="", draft=True)])
    assert field.status().units["total"] == 3
