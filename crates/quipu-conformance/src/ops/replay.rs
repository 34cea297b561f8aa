//! REPLAY: section 3.8 of the catalogue, with the chain of A-30.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
        unit::{committed, finding, relation},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l2_replay_01_tells_what_state_no_longer_shows,
        "RPL-1 L2-9",
        "A unit that was superseded is told as it was recorded."
    ),
    rule!(
        Must,
        l2_replay_02_summary_has_words_and_agents,
        "RPL-2 RPL-6",
        "At depth summary there are a summary and agents_involved."
    ),
    rule!(
        Must,
        l2_replay_03_detailed_has_events_with_unit_ids,
        "RPL-3 RPL-6",
        "At depth detailed the events name their units."
    ),
    rule!(
        Must,
        l2_replay_04_full_trace_is_in_the_order_of_epochs,
        "RPL-4 RPL-6",
        "The epochs of a full trace never fall."
    ),
    rule!(
        Must,
        l2_replay_05_full_trace_leaves_nothing_out,
        "RPL-4 A-30",
        "Everything that led to a unit is in its trace."
    ),
    rule!(
        Must,
        l2_replay_06_tells_a_conflict_as_the_specification_does,
        "RPL-4 MRG-4",
        "RECORD, RECORD, CONFLICT_CREATED, MERGE, in this order."
    )
    .needing(&["MERGE"]),
    rule!(
        Must,
        l2_replay_07_an_unknown_target_is_not_found,
        "RPL-1",
        "A missing entity of any type answers UNIT_NOT_FOUND, not recoverable."
    ),
    rule!(
        Must,
        l2_replay_08_an_event_has_its_shape,
        "RPL-3",
        "An event has epoch, event_type, agent_id and description, and places for unit and task."
    ),
    rule!(
        Must,
        l2_replay_09_refuses_bad_requests,
        "RPL-6",
        "Unknown types and depths, and a missing target, are refused."
    ),
    rule!(
        Reading,
        l2_replay_10_a_decision_must_be_one,
        "A-30",
        "target_type decision of a finding is not found."
    ),
    rule!(
        Must,
        l2_replay_11_a_decision_is_told_with_its_reasons,
        "RPL-4 A-30",
        "The units that a decision depends on are in its trace."
    ),
    rule!(
        Reading,
        l2_replay_12_total_events_counts_the_whole_chain,
        "A-30",
        "total_events is that of the full trace at every depth."
    ),
    rule!(Must, l2_replay_13_the_same_twice, "RPL-1", "The same REPLAY twice tells the same."),
    rule!(
        Must,
        l3_replay_14_tells_a_task,
        "RPL-4 COO-7",
        "A task's moves are in its trace, with its task_id."
    )
    .needing(&["COORDINATE"]),
    rule!(
        Must,
        l3_replay_15_tells_a_session,
        "RPL-4 COO-7",
        "What was recorded in a session is in its trace."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l2_replay_16_the_field_speaks_as_system,
        "RPL-3",
        "Events that nobody sent have the agent_id system."
    )
    .needing(&["MERGE"]),
    rule!(Must, l2_replay_17_refuses_a_stranger, "ENV-7", "An unregistered agent is refused."),
];

fn kinds(story: &Value) -> Vec<&str> {
    let events = story["timeline"].as_array().map_or(&[][..], Vec::as_slice);
    events.iter().filter_map(|event| event["event_type"].as_str()).collect()
}

fn recorded(story: &Value, unit: &str) -> bool {
    let events = story["timeline"].as_array().map_or(&[][..], Vec::as_slice);
    events.iter().any(|e| e["event_type"] == "RECORD" && e["memory_unit_id"] == unit)
}

fn l2_replay_01_tells_what_state_no_longer_shows(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("auditor")?);
    let old = agent.record(finding(case.words("Seals were intact")))?;
    let new = with(finding(case.words("Seals were broken")), relation("supersedes", &old.id));
    agent.record(new)?;
    let story = reader.replay("memory_unit", &old.id, "full_trace")?;
    let event = story.list("/timeline")?.iter().find(|e| e["memory_unit_id"] == old.id.as_str());
    let event = event.cloned().unwrap_or_default();
    same("epoch", event.integer("/epoch")?, old.epoch)?;
    same("agent_id", event.text("/agent_id")?, agent.id.as_str())
}

fn l2_replay_02_summary_has_words_and_agents(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("auditor")?);
    let unit = agent.record(finding(case.words("Seals were intact")))?;
    let story = reader.replay("memory_unit", &unit.id, "summary")?;
    same("status", story.text("/status")?, "ok")?;
    ensure(!story.text("/summary")?.trim().is_empty(), "the summary is empty")?;
    ensure(story.texts("/agents_involved")?.contains(&agent.id), "the author is not involved")
}

fn l2_replay_03_detailed_has_events_with_unit_ids(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("auditor")?);
    let unit = agent.record(finding(case.words("Seals were intact")))?;
    let story = reader.replay("memory_unit", &unit.id, "detailed")?;
    ensure(recorded(&story, &unit.id), "the RECORD of the unit is not told")?;
    ensure(!story.text("/summary")?.is_empty(), "the summary is empty")
}

fn l2_replay_04_full_trace_is_in_the_order_of_epochs(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let story = case.agent("auditor")?.replay("conflict", &dispute.id, "full_trace")?;
    let epochs = story.list("/timeline")?.iter().map(|event| event.integer("/epoch"));
    let epochs: Vec<u64> = epochs.collect::<Checked<_>>()?;
    ensure(epochs.len() >= 3, format!("only {} events", epochs.len()))?;
    ensure(epochs.is_sorted(), format!("the epochs are {epochs:?}"))
}

fn l2_replay_05_full_trace_leaves_nothing_out(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("auditor")?);
    let mut chain = vec![agent.record(finding(case.words("Seals were intact")))?];
    for kind in ["depends_on", "caused_by", "elaborates", "supports", "informs"] {
        let target = chain.last().map(|unit| unit.id.clone()).unwrap_or_default();
        let unit = with(finding(case.words("So the door was shut")), relation(kind, &target));
        chain.push(agent.record(unit)?);
    }
    let last = chain.last().map(|unit| unit.id.clone()).unwrap_or_default();
    let story = reader.replay("memory_unit", &last, "full_trace")?;
    for unit in &chain {
        ensure(recorded(&story, &unit.id), format!("the RECORD of {} is left out", unit.id))?;
    }
    Ok(())
}

fn l2_replay_06_tells_a_conflict_as_the_specification_does(case: &mut Case) -> Checked {
    let (dispute, judge) = (case.dispute_scored(0.82, 0.75)?, case.agent("strategist")?);
    let named = json!({"winner_id": dispute.older.id});
    judge.ok("MERGE", dispute.merge("confidence_weighted", named))?;
    let story = case.agent("auditor")?.replay("conflict", &dispute.id, "detailed")?;
    same("events", kinds(&story), vec!["RECORD", "RECORD", "CONFLICT_CREATED", "MERGE"])?;
    let involved = story.texts("/agents_involved")?;
    for agent in [&dispute.author_a, &dispute.author_b, &judge] {
        ensure(involved.contains(&agent.id), format!("{} is not involved", agent.id))?;
    }
    let merge = story.list("/timeline")?.last().cloned().unwrap_or_default();
    same("the merge's unit", merge.text("/memory_unit_id")?, dispute.older.id.as_str())
}

fn l2_replay_07_an_unknown_target_is_not_found(case: &mut Case) -> Checked {
    let reader = case.agent("auditor")?;
    for kind in ["task", "memory_unit", "decision", "conflict", "session"] {
        let payload = json!({"target_type": kind, "target_id": format!("x-{}", case.token), "depth": "summary"});
        let error = reader.refused("REPLAY", payload, "UNIT_NOT_FOUND")?;
        same("recoverable", error.flag("/recoverable")?, false)?;
    }
    Ok(())
}

fn l2_replay_08_an_event_has_its_shape(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let story = case.agent("auditor")?.replay("conflict", &dispute.id, "full_trace")?;
    story.integer("/total_events")?;
    for event in story.list("/timeline")? {
        event.integer("/epoch")?;
        ensure(!event.text("/event_type")?.is_empty(), "event_type is empty")?;
        ensure(!event.text("/agent_id")?.is_empty(), "agent_id is empty")?;
        ensure(!event.text("/description")?.is_empty(), "description is empty")?;
        event.has_keys("the event", &["memory_unit_id", "task_id"])?;
    }
    Ok(())
}

fn l2_replay_09_refuses_bad_requests(case: &mut Case) -> Checked {
    let reader = case.agent("auditor")?;
    let unit = reader.record(finding(case.words("Seals were intact")))?;
    let good = json!({"target_type": "memory_unit", "target_id": unit.id, "depth": "summary"});
    reader.ok("REPLAY", good.clone())?;
    for key in ["target_type", "target_id"] {
        reader.refused_somehow("REPLAY", crate::actors::json::without(good.clone(), key))?;
    }
    reader.refused_somehow("REPLAY", with(good.clone(), json!({"depth": "bottomless"})))?;
    reader.refused_somehow("REPLAY", with(good, json!({"target_type": "dream"}))).map(drop)
}

fn l2_replay_10_a_decision_must_be_one(case: &mut Case) -> Checked {
    let reader = case.agent("auditor")?;
    let unit = reader.record(finding(case.words("Seals were intact")))?;
    let payload = json!({"target_type": "decision", "target_id": unit.id, "depth": "summary"});
    reader.refused("REPLAY", payload, "UNIT_NOT_FOUND").map(drop)
}

fn l2_replay_11_a_decision_is_told_with_its_reasons(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("auditor")?);
    let ground = agent.record(finding(case.words("Seals were intact")))?;
    let decision = committed("decision", case.words("Ship the cargo"));
    let decision = agent.record(with(decision, relation("depends_on", &ground.id)))?;
    let story = reader.replay("decision", &decision.id, "full_trace")?;
    ensure(recorded(&story, &decision.id), "the decision is not told")?;
    ensure(recorded(&story, &ground.id), "what it depends on is not told")
}

fn l2_replay_12_total_events_counts_the_whole_chain(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let reader = case.agent("auditor")?;
    let full = reader.replay("conflict", &dispute.id, "full_trace")?;
    let total = full.integer("/total_events")?;
    same("total_events", Ok(total), u64::try_from(full.list("/timeline")?.len()))?;
    let brief = reader.replay("conflict", &dispute.id, "summary")?;
    same("total_events at depth summary", brief.integer("/total_events")?, total)
}

fn l2_replay_13_the_same_twice(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let reader = case.agent("auditor")?;
    let first = reader.replay("conflict", &dispute.id, "full_trace")?;
    let second = reader.replay("conflict", &dispute.id, "full_trace")?;
    same("the timeline", second.at("/timeline")?, first.at("/timeline")?)
}

fn l3_replay_14_tells_a_task(case: &mut Case) -> Checked {
    let task = case.task_in("in_progress")?;
    let intent = json!({"intent": {"purpose": "Serve the task", "task_id": task.id}});
    let unit = task.worker.record(with(finding(case.words("Half is done")), intent))?;
    task.go("complete")?;
    let story = case.agent("auditor")?.replay("task", &task.id, "full_trace")?;
    ensure(recorded(&story, &unit.id), "a unit of the task is not told")?;
    let of_task = |event: &&Value| event["task_id"] == task.id.as_str();
    let told = story.list("/timeline")?.iter().filter(of_task).count();
    ensure(
        told >= 4,
        format!("only {told} events have the task_id; create, claim, start, complete happened"),
    )
}

fn l3_replay_15_tells_a_session(case: &mut Case) -> Checked {
    let room = case.room()?;
    let unit = room.creator.record(finding(case.words("Seals were intact")))?;
    let story = room.creator.replay("session", &room.id, "full_trace")?;
    ensure(recorded(&story, &unit.id), "a unit of the session is not told")
}

fn l2_replay_16_the_field_speaks_as_system(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let story = case.agent("auditor")?.replay("conflict", &dispute.id, "detailed")?;
    let created = story.list("/timeline")?.iter().find(|e| e["event_type"] == "CONFLICT_CREATED");
    same("agent_id", created.cloned().unwrap_or_default().text("/agent_id")?, "system")
}

fn l2_replay_17_refuses_a_stranger(case: &mut Case) -> Checked {
    let unit = case.agent("scribe")?.record(finding(case.words("Seals were intact")))?;
    let payload = json!({"target_type": "memory_unit", "target_id": unit.id, "depth": "summary"});
    case.stranger().refused("REPLAY", payload, "AGENT_NOT_REGISTERED").map(drop)
}
