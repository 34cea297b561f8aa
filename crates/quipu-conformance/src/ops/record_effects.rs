//! RECORD, its effects on a unit: statuses, conflicts, the log, corrections (REC-6 to REC-14).

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same, wrong},
        json::{JsonAccess, with},
        unit::{committed, draft, finding, relation},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l0_record_30_a_draft_has_status_draft,
        "REC-6 L0-2",
        "A draft has the status draft."
    ),
    rule!(
        Must,
        l0_record_31_a_committed_unit_is_active,
        "REC-6 L0-2",
        "A committed unit has the status active."
    ),
    rule!(
        Must,
        l0_record_32_the_unit_has_the_shape_of_the_schema,
        "MU-5 REC-5 L0-5",
        "A unit has all keys that the schema requires."
    ),
    rule!(
        Must,
        l0_record_33_the_unit_comes_back_unchanged,
        "MU-4",
        "Content, intent and confidence come back as they were sent."
    ),
    rule!(
        Must,
        l1_record_07_appends_to_log,
        "REC-7 L1-2",
        "Each RECORD adds to the log and replaces nothing."
    ),
    rule!(
        Must,
        l1_record_34_contradicts_creates_a_conflict,
        "REC-8 DET-2 L1-7",
        "A contradicts relation creates a conflict whose id is returned."
    ),
    rule!(
        Must,
        l1_record_35_the_conflict_names_the_older_unit_first,
        "REC-8",
        "unit_a is the target, unit_b the new unit, detected_by explicit, status detected."
    )
    .needing(&["DETECT"]),
    rule!(
        Reading,
        l1_record_36_both_units_become_contested,
        "A-13",
        "The units of an open conflict are contested."
    ),
    rule!(
        Reading,
        l1_record_37_supersedes_marks_its_target,
        "A-10",
        "A correction that supersedes a unit takes its place."
    ),
    rule!(
        Must,
        l0_record_38_a_correction_leaves_the_old_content_alone,
        "MU-4",
        "A correction is a new unit; the text of the old one does not change."
    ),
    rule!(
        Reading,
        l1_record_39_one_conflict_per_pair_while_open,
        "A-28",
        "A second contradiction of the same pair opens no second conflict."
    )
    .needing(&["DETECT"]),
    rule!(
        Reading,
        l1_record_40_decisions_clash_strategically,
        "A-28",
        "Two findings clash factually, two decisions strategically."
    )
    .needing(&["DETECT"]),
    rule!(
        Reading,
        l0_record_41_a_draft_is_promoted_by_superseding_it,
        "MU-6 A-12",
        "A committed unit that supersedes a draft takes its place."
    ),
    rule!(
        Should,
        l2_record_42_detects_an_opposing_claim_by_itself,
        "REC-9 DET-4",
        "RECORD reports a conflict with a unit that says the opposite, at once or, if it says so, soon."
    )
    .needing(&["DETECT", "SUBSCRIBE"]),
    rule!(
        Should,
        l2_record_43_pushes_to_matching_subscriptions,
        "REC-10",
        "A new unit reaches the subscribers of memory.recorded."
    )
    .needing(&["SUBSCRIBE"]),
    rule!(
        Reading,
        l1_record_44_a_unit_that_contradicts_two_opens_two_conflicts,
        "REC-8",
        "Each contradicts relation has a conflict of its own."
    ),
    rule!(
        Must,
        l0_record_45_the_timestamp_is_a_date_with_a_zone,
        "MU-5",
        "source.timestamp is an RFC 3339 date-time."
    ),
];

fn status_of(case: &mut Case, payload: Value, want: &str) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let unit = agent.record(payload)?;
    same("status", reader.sees(&unit)?.text("/status")?, want)
}

fn l0_record_30_a_draft_has_status_draft(case: &mut Case) -> Checked {
    let payload = draft(case.words("Clouds gather"));
    status_of(case, payload, "draft")
}

fn l0_record_31_a_committed_unit_is_active(case: &mut Case) -> Checked {
    let payload = finding(case.words("Clouds gather"));
    status_of(case, payload, "active")
}

fn l0_record_32_the_unit_has_the_shape_of_the_schema(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let unit = agent.record(finding(case.words("Clouds gather")))?;
    let seen = reader.sees(&unit)?;
    let keys = ["id", "mode", "type", "content", "intent", "source", "status", "epoch"];
    seen.has_keys("the unit", &keys)?;
    seen.at("/source")?.has_keys("source", &["agent_id", "agent_role", "timestamp"])?;
    same("source.agent_id", seen.text("/source/agent_id")?, agent.id.as_str())?;
    same("source.agent_role", seen.text("/source/agent_role")?, "scribe")
}

fn l0_record_33_the_unit_comes_back_unchanged(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let full = json!({
        "content": case.words("Wolken \u{1F327} \"zitiert\"\nzweite Zeile"),
        "intent": {"purpose": "See it again", "task_id": "task-clouds", "question": "Will it rain?"},
        "confidence": {"score": 0.55, "reasoning": "Looked up", "evidence": ["a", "b"],
                       "assumptions": ["wind stays west"]},
    });
    let sent = with(finding(String::new()), full);
    let unit = agent.record(sent.clone())?;
    let seen = reader.sees(&unit)?;
    for pointer in [
        "/content",
        "/intent/purpose",
        "/intent/task_id",
        "/intent/question",
        "/confidence/score",
        "/confidence/reasoning",
        "/confidence/evidence",
        "/confidence/assumptions",
    ] {
        same(pointer, seen.at(pointer)?, sent.at(pointer)?)?;
    }
    Ok(())
}

fn l1_record_07_appends_to_log(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let first = agent.record(finding(case.words("Clouds gather")))?;
    let second = agent.record(finding(case.words("Clouds part")))?;
    ensure(second.epoch > first.epoch, "the second RECORD is not after the first")?;
    for unit in [&first, &second] {
        let seen =
            reader.finds(&first, json!({}))?.is_some() && reader.finds(unit, json!({}))?.is_some();
        ensure(seen, format!("{} is gone", unit.id))?;
        if case.field.supports("REPLAY") {
            let story = reader.replay("memory_unit", &unit.id, "full_trace")?;
            let recorded = |event: &&Value| {
                event["event_type"] == "RECORD"
                    && event["memory_unit_id"] == unit.id.as_str()
                    && event["epoch"] == unit.epoch
            };
            same("RECORD events", story.list("/timeline")?.iter().filter(recorded).count(), 1)?;
        }
    }
    Ok(())
}

fn l1_record_34_contradicts_creates_a_conflict(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    ensure(!dispute.id.is_empty(), "the conflict has an empty id")
}

fn l1_record_35_the_conflict_names_the_older_unit_first(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let conflict = dispute.author_a.conflict(&dispute.id)?;
    same("unit_a", conflict.text("/unit_a")?, dispute.older.id.as_str())?;
    same("unit_b", conflict.text("/unit_b")?, dispute.newer.id.as_str())?;
    same("detected_by", conflict.text("/detected_by")?, "explicit")?;
    same("status", conflict.text("/status")?, "detected")
}

fn l1_record_36_both_units_become_contested(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let reader = case.agent("analyst")?;
    same("status of unit_a", reader.sees(&dispute.older)?.text("/status")?, "contested")?;
    same("status of unit_b", reader.sees(&dispute.newer)?.text("/status")?, "contested")
}

fn l1_record_37_supersedes_marks_its_target(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let old = agent.record(finding(case.words("Clouds gather")))?;
    let new = committed("correction", case.words("It was smoke"));
    let new = agent.record(with(new, relation("supersedes", &old.id)))?;
    reader.misses(&old)?;
    same("status", reader.sees(&new)?.text("/status")?, "active")
}

fn l0_record_38_a_correction_leaves_the_old_content_alone(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let old = agent.record(finding(case.words("Clouds gather")))?;
    let new = finding(case.words("Many clouds gather"));
    agent.record(with(new, relation("elaborates", &old.id)))?;
    same("content", reader.sees(&old)?.text("/content")?, old.content.as_str())
}

fn l1_record_39_one_conflict_per_pair_while_open(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let both = [dispute.older.id.as_str(), dispute.newer.id.as_str()];
    let relations = json!({"relations": [
        {"type": "contradicts", "target_id": both[0]}, {"type": "contradicts", "target_id": both[0]},
    ]});
    let twice = dispute.author_b.record(with(finding(case.words("Nor by dusk")), relations))?;
    let pair = |conflict: &&Value, unit: &str| {
        let (a, b) = (&conflict["unit_a"], &conflict["unit_b"]);
        [a, b].iter().all(|side| *side == unit || *side == both[0])
    };
    let all = dispute.author_a.conflicts(json!({}))?;
    for unit in [both[1], twice.id.as_str()] {
        same("conflicts of the pair", all.iter().filter(|found| pair(found, unit)).count(), 1)?;
    }
    Ok(())
}

fn l1_record_40_decisions_clash_strategically(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    let agent = &dispute.author_a;
    same("type", agent.conflict(&dispute.id)?.text("/type")?, "factual")?;
    let decision = json!({"type": "decision"});
    let (a, b) = (case.agent("planner")?, case.agent("planner")?);
    let dispute = case.dispute_between(a, b, decision.clone(), decision)?;
    same("type", dispute.author_a.conflict(&dispute.id)?.text("/type")?, "strategic")
}

fn l0_record_41_a_draft_is_promoted_by_superseding_it(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let note = agent.record(draft(case.words("Clouds gather")))?;
    let unit = with(finding(case.words("Clouds gather")), relation("supersedes", &note.id));
    let unit = agent.record(unit)?;
    reader.misses(&note)?;
    reader.sees(&unit).map(drop)
}

fn l2_record_42_detects_an_opposing_claim_by_itself(case: &mut Case) -> Checked {
    let (a, b) = (case.agent("researcher")?, case.agent("reviewer")?);
    let subject = format!("The {} payments service", case.token);
    let yes = format!("{subject} supports refunds in the European region.");
    let no = format!("{subject} does not support refunds in the European region.");
    let first = a.record(finding(yes))?;
    let mut push = a.subscribe(&["conflict.detected"])?;
    let answer = b.ok("RECORD", finding(no))?;
    let told = answer.texts("/conflicts_detected").unwrap_or_default();
    let conflict = match told.first() {
        Some(id) => b.conflict(id)?,
        // A Field may detect conflicts after it has answered, if the answer says so (REC-12).
        None if answer["conflict_detection"] == "deferred" => {
            let read = |got: &Value| b.conflict(got.text("/conflict_id")?);
            let of_first = |c: Value| c["unit_a"] == *first.id || c["unit_b"] == *first.id;
            read(&push.until(|got| read(got).is_ok_and(of_first))?)?
        }
        None => return wrong("conflicts_detected is empty, and detection is not deferred"),
    };
    let pair = [conflict.text("/unit_a")?, conflict.text("/unit_b")?];
    ensure(pair.contains(&first.id.as_str()), format!("the conflict is between {pair:?}"))
}

fn l2_record_43_pushes_to_matching_subscriptions(case: &mut Case) -> Checked {
    let (author, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let mut push = reader.subscribe(&["memory.recorded"])?;
    let unit = author.record(finding(case.words("Clouds gather")))?;
    push.until_unit("memory.recorded", &unit.id).map(drop)
}

fn l1_record_44_a_unit_that_contradicts_two_opens_two_conflicts(case: &mut Case) -> Checked {
    let agent = case.agent("scribe")?;
    let first = agent.record(finding(case.words("Clouds gather")))?;
    let second = agent.record(finding(case.words("Swallows fly low")))?;
    let relations = json!({"relations": [
        {"type": "contradicts", "target_id": first.id},
        {"type": "contradicts", "target_id": second.id},
    ]});
    let third = agent.record(with(finding(case.words("The sky is clear")), relations))?;
    ensure(third.conflicts.len() >= 2, format!("conflicts: {:?}", third.conflicts))
}

fn l0_record_45_the_timestamp_is_a_date_with_a_zone(case: &mut Case) -> Checked {
    let (agent, reader) = (case.agent("scribe")?, case.agent("analyst")?);
    let unit = agent.record(finding(case.words("Clouds gather")))?;
    let seen = reader.sees(&unit)?;
    let time = seen.text("/source/timestamp")?;
    let date = time.split(['T', 't']).next().unwrap_or_default();
    let dashes = date.len() == 10 && date.matches('-').count() == 2;
    let zone = time.ends_with(['Z', 'z']) || time[10.min(time.len())..].contains(['+', '-']);
    ensure(dashes && zone && time.len() >= 20, format!("{time:?} is no RFC 3339 date-time"))
}
