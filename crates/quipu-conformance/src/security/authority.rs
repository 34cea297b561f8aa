//! The minimum authorities of section 7.2. Agents declare theirs by REGISTER's `authority_level`
//! (our reading of A-20), all under one operator key.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, same},
        json::JsonAccess,
        unit::{draft, finding},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l3_authority_01_recording_committed_units_needs_4,
        "SEC-3 REC-13 L3-5",
        "Authority 2 cannot commit, 4 can."
    ),
    rule!(
        Must,
        l3_authority_02_recording_drafts_needs_2,
        "SEC-3 REC-13 L3-5",
        "Authority 0 cannot draft, 2 can."
    ),
    rule!(
        Must,
        l3_authority_03_attune_needs_2,
        "SEC-3 ATT-15 L3-5",
        "Authority 0 cannot attune, 2 can."
    ),
    rule!(
        Must,
        l3_authority_04_detect_needs_4,
        "SEC-3 DET-6 L3-5",
        "Authority 2 cannot detect, 4 can."
    ),
    rule!(
        Must,
        l3_authority_05_merge_needs_6,
        "SEC-3 MRG-8 L3-5",
        "Authority 4 cannot merge, 6 can."
    )
    .needing(&["MERGE"]),
    rule!(
        Must,
        l3_authority_06_archiving_needs_6,
        "SEC-3 CMP-7 L3-5",
        "Authority 4 cannot archive, 6 can."
    )
    .needing(&["COMPACT"]),
    rule!(
        Must,
        l3_authority_07_purging_needs_10,
        "SEC-3 CMP-7 L3-5",
        "Authority 8 cannot purge, 10 can."
    )
    .needing(&["COMPACT"]),
    rule!(
        Must,
        l3_authority_08_leaving_needs_4,
        "SEC-3 DER-5 SEC-6 L3-5",
        "Authority 2 cannot deregister itself, 4 can."
    )
    .needing(&["DEREGISTER"]),
    rule!(
        Must,
        l3_authority_09_removing_another_needs_8,
        "SEC-3 DER-5 L3-5",
        "Authority 6 cannot deregister another agent, 8 can."
    )
    .needing(&["DEREGISTER"]),
    rule!(
        Must,
        l3_authority_10_registering_needs_none,
        "SEC-3 L3-5",
        "Every authority may register."
    ),
    rule!(Reading, l3_authority_11_replay_needs_none, "SEC-5", "Authority 0 may replay.")
        .needing(&["REPLAY"]),
    rule!(
        Reading,
        l3_authority_12_subscribing_needs_2,
        "SEC-5 SUB-6",
        "Authority 0 cannot subscribe, 2 can."
    )
    .needing(&["SUBSCRIBE"]),
    rule!(Reading, l3_authority_13_summarizing_needs_6, "SEC-5", "Authority 4 cannot summarize.")
        .needing(&["COMPACT"]),
    rule!(
        Reading,
        l3_authority_14_tasks_of_ones_own_need_4,
        "SEC-5",
        "Authority 2 cannot create a task, 4 can."
    )
    .needing(&["COORDINATE"]),
    rule!(
        Reading,
        l3_authority_15_tasks_for_others_need_6,
        "SEC-5",
        "Authority 4 cannot give a task to another, 6 can."
    )
    .needing(&["COORDINATE"]),
    rule!(
        Reading,
        l3_authority_16_cancelling_anothers_task_needs_8,
        "SEC-5",
        "Authority 6 cannot cancel another's task, 8 can."
    )
    .needing(&["COORDINATE"]),
    rule!(
        Reading,
        l3_authority_17_a_session_needs_4,
        "SEC-5",
        "Authority 2 cannot create a session, 4 can."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_authority_18_the_creator_rules_its_session,
        "SEC-5",
        "A creator of authority 4 pauses its session; another member does not."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_authority_19_the_code_is_insufficient_authority,
        "A-07 A-21",
        "The refusal is INSUFFICIENT_AUTHORITY with status 403."
    ),
    rule!(
        Reading,
        l3_authority_20_a_level_outside_of_the_table_is_refused,
        "A-20 SEC-4",
        "authority_level 11 and -1 are refused."
    ),
    rule!(
        Reading,
        l3_authority_21_handing_off_needs_4,
        "SEC-5",
        "Authority 2 cannot offer a handoff, 4 can."
    )
    .needing(&["HANDOFF"]),
    rule!(
        Must,
        l3_authority_22_reads_do_not_write,
        "SEC-3 L3-5",
        "A refused RECORD of an observer leaves nothing behind."
    ),
];

/// The operation must be refused at the lower authority and carried out at the higher one.
fn divides(case: &mut Case, below: u8, enough: u8, operation: &str, payload: &Value) -> Checked {
    case.agent_of(below)?.refused_somehow(operation, payload.clone())?;
    case.agent_of(enough)?.ok(operation, payload.clone()).map(drop)
}

fn l3_authority_01_recording_committed_units_needs_4(case: &mut Case) -> Checked {
    let unit = finding(case.words("Keys were cut"));
    divides(case, 2, 4, "RECORD", &unit)?;
    divides(case, 0, 10, "RECORD", &unit)
}

fn l3_authority_02_recording_drafts_needs_2(case: &mut Case) -> Checked {
    let note = draft(case.words("Keys were cut"));
    divides(case, 0, 2, "RECORD", &note)
}

fn l3_authority_03_attune_needs_2(case: &mut Case) -> Checked {
    divides(case, 0, 2, "ATTUNE", &json!({"scope": {"role": "analyst", "max_units": 1}}))
}

fn l3_authority_04_detect_needs_4(case: &mut Case) -> Checked {
    divides(case, 2, 4, "DETECT", &json!({"mode": "list"}))
}

fn l3_authority_05_merge_needs_6(case: &mut Case) -> Checked {
    let dispute = case.dispute()?;
    divides(case, 4, 6, "MERGE", &dispute.merge("last_write_wins", json!({})))
}

/// A filter that matches no unit, because none is that old.
fn nothing() -> Value {
    json!({"max_age_epochs": 4_000_000_000_000_u64, "types": ["human_directive"]})
}

fn l3_authority_06_archiving_needs_6(case: &mut Case) -> Checked {
    divides(case, 4, 6, "COMPACT", &json!({"strategy": "archive", "filter": nothing()}))
}

fn l3_authority_07_purging_needs_10(case: &mut Case) -> Checked {
    divides(case, 8, 10, "COMPACT", &json!({"strategy": "purge", "filter": nothing()}))
}

fn l3_authority_08_leaving_needs_4(case: &mut Case) -> Checked {
    let (observer, agent) = (case.agent_of(2)?, case.agent_of(4)?);
    observer.refused_somehow("DEREGISTER", json!({"agent_id": observer.id}))?;
    let answer = agent.ok("DEREGISTER", json!({"agent_id": agent.id}))?;
    same("status", answer.text("/status")?, "ok")
}

fn l3_authority_09_removing_another_needs_8(case: &mut Case) -> Checked {
    let victim = case.agent_of(4)?;
    let (senior, creator) = (case.agent_of(6)?, case.agent_of(8)?);
    senior.refused_somehow("DEREGISTER", json!({"agent_id": victim.id}))?;
    let answer = creator.ok("DEREGISTER", json!({"agent_id": victim.id}))?;
    same("status", answer.text("/status")?, "ok")
}

fn l3_authority_10_registering_needs_none(case: &mut Case) -> Checked {
    for level in [0, 2, 4, 6, 8, 10] {
        case.agent_of(level)?;
    }
    Ok(())
}

fn l3_authority_11_replay_needs_none(case: &mut Case) -> Checked {
    let unit = case.agent("scribe")?.record(finding(case.words("Keys were cut")))?;
    case.agent_of(0)?.replay("memory_unit", &unit.id, "summary").map(drop)
}

fn l3_authority_12_subscribing_needs_2(case: &mut Case) -> Checked {
    let wanted = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    divides(case, 0, 2, "SUBSCRIBE", &wanted)
}

fn l3_authority_13_summarizing_needs_6(case: &mut Case) -> Checked {
    divides(case, 4, 6, "COMPACT", &json!({"strategy": "summarize", "filter": nothing()}))
}

fn l3_authority_14_tasks_of_ones_own_need_4(case: &mut Case) -> Checked {
    let task = case.new_task(json!({}));
    divides(case, 2, 4, "COORDINATE", &task)
}

fn l3_authority_15_tasks_for_others_need_6(case: &mut Case) -> Checked {
    let worker = case.agent_of(4)?;
    let mut task = case.new_task(json!({}));
    task["assignee"] = json!(worker.id);
    divides(case, 4, 6, "COORDINATE", &task)
}

fn l3_authority_16_cancelling_anothers_task_needs_8(case: &mut Case) -> Checked {
    let task = case.task_in("assigned")?;
    divides(case, 6, 8, "COORDINATE", &task.payload("cancel"))
}

fn l3_authority_17_a_session_needs_4(case: &mut Case) -> Checked {
    let payload = json!({"action": "create", "session": {"goal": case.words("Cut keys")}});
    divides(case, 2, 4, "SESSION", &payload)
}

fn l3_authority_18_the_creator_rules_its_session(case: &mut Case) -> Checked {
    let (creator, member) = (case.agent_of(4)?, case.agent_of(4)?);
    let room = case.room_of(&creator)?;
    let member = room.joined(&member)?;
    for action in ["pause", "end", "set_policy"] {
        let policy = json!({"session": {"policy": {"quorum": 2}}});
        member.refused_somehow("SESSION", room.payload(action, policy))?;
    }
    let paused = room.act(&room.creator, "pause", json!({}))?;
    same("status", paused.text("/session/status")?, "paused")
}

fn l3_authority_19_the_code_is_insufficient_authority(case: &mut Case) -> Checked {
    let observer = case.agent_of(2)?;
    let reply = observer.send("RECORD", finding(case.words("Keys were cut")))?;
    same("code", reply.body.text("/code")?, "INSUFFICIENT_AUTHORITY")?;
    same("status", reply.status, 403)
}

fn l3_authority_20_a_level_outside_of_the_table_is_refused(case: &mut Case) -> Checked {
    for level in [json!(11), json!(-1), json!("ten")] {
        let agent = case.stranger();
        let payload = json!({"id": agent.id, "role": "analyst", "authority_level": level});
        agent.refused_somehow("REGISTER", payload)?;
    }
    Ok(())
}

fn l3_authority_21_handing_off_needs_4(case: &mut Case) -> Checked {
    let taker = case.agent_of(4)?;
    let offer = json!({"action": "offer", "task_id": format!("task-{}", case.token),
        "to_agent": taker.id, "reason": "My shift ends", "context": {"summary": "Half of it"}});
    divides(case, 2, 4, "HANDOFF", &offer)
}

fn l3_authority_22_reads_do_not_write(case: &mut Case) -> Checked {
    let (observer, reader) = (case.agent_of(2)?, case.agent_of(4)?);
    let since = reader.attune(json!({"max_units": 1}))?.integer("/epoch")?;
    let content = case.words("Keys were cut");
    observer.refused_somehow("RECORD", finding(content.clone()))?;
    let answer = reader.attune_since(since, json!({}))?;
    let kept =
        answer.list("/record")?.iter().filter(|i| i["memory_unit"]["content"] == content.as_str());
    same("units of that text", kept.count(), 0)
}
