//! SESSION: section 8.2 of the catalogue. The protocol demands its presence (L3-1); its contract is our reading.

use serde_json::{Value, json};

use crate::{
    actors::{
        case::Case,
        check::{Checked, ensure, same},
        json::{JsonAccess, with},
        unit::finding,
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l3_session_01_a_session_can_be_created,
        "COO-2 COO-4 L3-1",
        "A session with a goal is created and is active."
    ),
    rule!(
        Must,
        l3_session_02_a_goal_is_required,
        "COO-4",
        "A session without a stated goal is refused."
    ),
    rule!(
        Reading,
        l3_session_03_a_session_has_its_shape,
        "COO-4",
        "A session has all keys of the contract."
    ),
    rule!(
        Reading,
        l3_session_04_agents_join_and_leave,
        "COO-4",
        "members has who joined, and not who left."
    ),
    rule!(Reading, l3_session_05_active_to_paused_and_back, "COO-4", "pause and resume."),
    rule!(
        Reading,
        l3_session_06_active_and_paused_to_ended,
        "COO-4",
        "end works from both states and is terminal."
    ),
    rule!(
        Reading,
        l3_session_07_a_paused_session_takes_no_writes,
        "COO-4",
        "RECORD in a paused session answers INVALID_TRANSITION; reads work."
    ),
    rule!(
        Reading,
        l3_session_08_an_ended_session_is_read_only,
        "COO-4",
        "RECORD in an ended session is refused; ATTUNE works."
    ),
    rule!(
        Reading,
        l3_session_09_illegal_moves_are_refused,
        "COO-7",
        "Resuming what is active and pausing what is paused answer INVALID_TRANSITION."
    ),
    rule!(
        Reading,
        l3_session_10_ending_cancels_open_tasks,
        "COO-4",
        "Open tasks of an ended session are cancelled."
    )
    .needing(&["COORDINATE"]),
    rule!(
        Reading,
        l3_session_11_an_unknown_session_is_not_found,
        "COO-7",
        "An unknown session answers UNIT_NOT_FOUND."
    ),
    rule!(Reading, l3_session_12_lists_sessions, "COO-4", "list has the session for its members."),
    rule!(Reading, l3_session_13_policy_can_be_set, "COO-4", "set_policy keeps what it was given."),
    rule!(
        Must,
        l3_session_14_units_carry_their_session,
        "MU-5 ENV-9",
        "source.session_id is that of the envelope."
    ),
    rule!(
        Reading,
        l3_session_15_refuses_bad_requests,
        "COO-2",
        "Unknown actions and missing ids are refused."
    ),
    rule!(Must, l3_session_16_refuses_a_stranger, "ENV-7", "An unregistered agent is refused."),
    rule!(
        Reading,
        l3_session_17_a_paused_session_moves_no_tasks,
        "COO-4",
        "COORDINATE in a paused session answers INVALID_TRANSITION."
    )
    .needing(&["COORDINATE"]),
];

fn l3_session_01_a_session_can_be_created(case: &mut Case) -> Checked {
    let agent = case.agent("chair")?;
    let goal = case.words("Choose a harbour");
    let payload = json!({"action": "create", "session": {"goal": goal}});
    let answer = agent.ok("SESSION", payload)?;
    same("status", answer.text("/session/status")?, "active")?;
    same("goal", answer.text("/session/goal")?, goal.as_str())?;
    same("creator", answer.text("/session/creator")?, agent.id.as_str())
}

fn l3_session_02_a_goal_is_required(case: &mut Case) -> Checked {
    let agent = case.agent("chair")?;
    for session in [json!(null), json!({}), json!({"goal": ""}), json!({"goal": "  "})] {
        agent.refused_somehow("SESSION", json!({"action": "create", "session": session}))?;
    }
    Ok(())
}

fn l3_session_03_a_session_has_its_shape(case: &mut Case) -> Checked {
    let room = case.room()?;
    let answer = room.act(&room.creator, "get", json!({}))?;
    same("status", answer.text("/status")?, "ok")?;
    let session = answer.at("/session")?;
    let keys =
        ["id", "goal", "status", "creator", "members", "policy", "epoch_created", "epoch_ended"];
    session.has_keys("the session", &keys)?;
    same("id", session.text("/id")?, room.id.as_str())?;
    ensure(session.is_nothing("/epoch_ended"), "an active session has an end")?;
    same("cross_session_visibility", session.flag("/policy/cross_session_visibility")?, false)
}

fn members(room: &crate::actors::room::Room) -> Checked<Vec<String>> {
    let session = room.act(&room.creator, "get", json!({}))?;
    // A member may be an id, or an object with an id.
    let list = session.list("/session/members")?.iter();
    Ok(list
        .map(|m| m.as_str().or_else(|| m["agent_id"].as_str()).unwrap_or_default().to_owned())
        .collect())
}

fn l3_session_04_agents_join_and_leave(case: &mut Case) -> Checked {
    let room = case.room()?;
    let agent = case.agent("guest")?;
    room.joined(&agent)?;
    ensure(members(&room)?.contains(&agent.id), "who joined is no member")?;
    room.act(&agent, "leave", json!({}))?;
    ensure(!members(&room)?.contains(&agent.id), "who left is a member")
}

fn l3_session_05_active_to_paused_and_back(case: &mut Case) -> Checked {
    let room = case.room()?;
    let paused = room.act(&room.creator, "pause", json!({}))?;
    same("status", paused.text("/session/status")?, "paused")?;
    let resumed = room.act(&room.creator, "resume", json!({}))?;
    same("status", resumed.text("/session/status")?, "active")?;
    room.creator.record(finding(case.words("Work goes on"))).map(drop)
}

fn l3_session_06_active_and_paused_to_ended(case: &mut Case) -> Checked {
    for paused in [false, true] {
        let room = case.room()?;
        if paused {
            room.act(&room.creator, "pause", json!({}))?;
        }
        let ended = room.act(&room.creator, "end", json!({}))?;
        same("status", ended.text("/session/status")?, "ended")?;
        ended.integer("/session/epoch_ended")?;
        for action in ["pause", "resume", "end"] {
            let payload = room.payload(action, json!({}));
            room.creator.refused("SESSION", payload, "INVALID_TRANSITION")?;
        }
    }
    Ok(())
}

/// What a session that was paused or ended still allows.
fn read_only(case: &mut Case, action: &str) -> Checked {
    let room = case.room()?;
    let member = case.agent("guest")?;
    let member = room.joined(&member)?;
    let unit = room.creator.record(finding(case.words("The harbour is deep")))?;
    room.act(&room.creator, action, json!({}))?;
    let late = finding(case.words("The harbour is shallow"));
    room.creator.refused("RECORD", late, "INVALID_TRANSITION")?;
    member.sees(&unit).map(drop)
}

fn l3_session_07_a_paused_session_takes_no_writes(case: &mut Case) -> Checked {
    read_only(case, "pause")
}

fn l3_session_08_an_ended_session_is_read_only(case: &mut Case) -> Checked {
    read_only(case, "end")
}

fn l3_session_09_illegal_moves_are_refused(case: &mut Case) -> Checked {
    let room = case.room()?;
    let resume = room.payload("resume", json!({}));
    room.creator.refused("SESSION", resume, "INVALID_TRANSITION")?;
    room.act(&room.creator, "pause", json!({}))?;
    let pause = room.payload("pause", json!({}));
    room.creator.refused("SESSION", pause, "INVALID_TRANSITION").map(drop)
}

fn l3_session_10_ending_cancels_open_tasks(case: &mut Case) -> Checked {
    let room = case.room()?;
    let answer = room.creator.ok("COORDINATE", case.new_task(json!({})))?;
    let id = answer.text("/task/id")?.to_owned();
    same("session_id", answer.text("/task/session_id")?, room.id.as_str())?;
    room.act(&room.creator, "end", json!({}))?;
    let got = room.creator.ok("COORDINATE", json!({"action": "get", "task_id": id}))?;
    same("status", got.text("/task/status")?, "cancelled")
}

fn l3_session_11_an_unknown_session_is_not_found(case: &mut Case) -> Checked {
    let agent = case.agent("chair")?;
    for action in ["join", "leave", "pause", "resume", "end", "get"] {
        let payload = json!({"action": action, "session_id": format!("session-{}", case.token)});
        let error = agent.refused("SESSION", payload, "UNIT_NOT_FOUND")?;
        same("recoverable", error.flag("/recoverable")?, false)?;
    }
    Ok(())
}

fn l3_session_12_lists_sessions(case: &mut Case) -> Checked {
    let room = case.room()?;
    let answer = room.creator.ok("SESSION", json!({"action": "list"}))?;
    let listed = answer.list("/sessions")?.iter().any(|entry| entry["id"] == room.id.as_str());
    ensure(listed, "the session is not listed for its creator")
}

fn l3_session_13_policy_can_be_set(case: &mut Case) -> Checked {
    let room = case.room()?;
    let rules = json!([{"role": "guest", "allow_types": [], "deny_types": ["decision"]}]);
    let policy = json!({"session": {"policy": {"quorum": 3, "visibility_rules": rules}}});
    room.act(&room.creator, "set_policy", policy)?;
    let got = room.act(&room.creator, "get", json!({}))?;
    same("quorum", got.integer("/session/policy/quorum")?, 3)?;
    same("role", got.text("/session/policy/visibility_rules/0/role")?, "guest")?;
    let bad: Value = json!({"session": {"policy": {"quorum": -1}}});
    room.creator.refused_somehow("SESSION", room.payload("set_policy", bad)).map(drop)
}

fn l3_session_14_units_carry_their_session(case: &mut Case) -> Checked {
    let room = case.room()?;
    let member = case.agent("guest")?;
    let member = room.joined(&member)?;
    let unit = room.creator.record(finding(case.words("The harbour is deep")))?;
    same("session_id", member.sees(&unit)?.text("/source/session_id")?, room.id.as_str())
}

fn l3_session_15_refuses_bad_requests(case: &mut Case) -> Checked {
    let agent = case.agent("chair")?;
    agent.refused_somehow("SESSION", json!({}))?;
    agent.refused_somehow("SESSION", json!({"action": "adjourn"}))?;
    agent.refused_somehow("SESSION", json!({"action": "join"})).map(drop)
}

fn l3_session_16_refuses_a_stranger(case: &mut Case) -> Checked {
    let payload = with(json!({"action": "create"}), json!({"session": {"goal": "Anything"}}));
    case.stranger().refused("SESSION", payload, "AGENT_NOT_REGISTERED").map(drop)
}

fn l3_session_17_a_paused_session_moves_no_tasks(case: &mut Case) -> Checked {
    let room = case.room()?;
    let answer = room.creator.ok("COORDINATE", case.new_task(json!({})))?;
    let id = answer.text("/task/id")?.to_owned();
    room.act(&room.creator, "pause", json!({}))?;
    let claim = json!({"action": "claim", "task_id": id});
    room.creator.refused("COORDINATE", claim, "INVALID_TRANSITION")?;
    room.creator.ok("COORDINATE", json!({"action": "get", "task_id": id})).map(drop)
}
