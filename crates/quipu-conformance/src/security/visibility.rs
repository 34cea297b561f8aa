//! Who may see what: section 7.3 of the catalogue. An agent must not learn about a unit that it may not see: not by
//! ATTUNE, an id, a count, a conflict or a notification.

use serde_json::json;

use crate::{
    actors::{
        agent::Agent,
        case::Case,
        check::{Checked, ensure, same},
        dispute::Dispute,
        json::JsonAccess,
        room::Room,
        unit::{Unit, committed, finding, relation},
    },
    rule::{Rule, rule},
};

pub(crate) const CASES: &[Rule] = &[
    rule!(
        Must,
        l3_visibility_01_members_see_units_of_their_session,
        "SEC-7 L3-6",
        "A member is given what was recorded in its session."
    )
    .needing(&["SESSION"]),
    rule!(
        Must,
        l3_visibility_02_others_do_not,
        "SEC-7 L3-6",
        "An agent that is no member is not given it, in whatever session it speaks."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_03_null_session_sees_null_session_only,
        "A-23",
        "A member that speaks outside of the session is given outside units only."
    )
    .needing(&["SESSION"]),
    rule!(
        Must,
        l3_visibility_04_leaving_ends_it,
        "SEC-7 L3-6",
        "Who left a session is given its units no more."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_05_others_cannot_write_into_a_session,
        "A-23",
        "RECORD into a session that one is no member of is refused."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_06_counts_do_not_tell,
        "SEC-7",
        "units_available does not count what may not be seen."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_07_conflicts_do_not_tell,
        "SEC-7",
        "DETECT and ATTUNE do not show others the session's conflicts."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_08_replay_does_not_tell,
        "SEC-7",
        "REPLAY of a hidden unit answers as if there were none."
    )
    .needing(&["SESSION", "REPLAY"]),
    rule!(
        Reading,
        l3_visibility_09_ids_do_not_tell,
        "SEC-7",
        "DETECT check and RECORD contradicts answer for a hidden unit as for none."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_10_push_does_not_tell,
        "SEC-7",
        "A subscriber outside is not notified."
    )
    .needing(&["SESSION", "SUBSCRIBE"]),
    rule!(
        Reading,
        l3_visibility_11_role_rules_hide_types,
        "SEC-7",
        "A denied type is not given to the role."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_12_the_registered_role_counts,
        "SEC-7",
        "scope.role does not get around the rules."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_13_role_rules_can_allow,
        "SEC-7",
        "With allow_types only these are given to the role."
    )
    .needing(&["SESSION"]),
    rule!(
        Reading,
        l3_visibility_14_merge_does_not_tell,
        "SEC-7",
        "MERGE of a hidden conflict answers CONFLICT_NOT_FOUND."
    )
    .needing(&["SESSION", "MERGE"]),
    rule!(
        Reading,
        l3_visibility_15_cross_session_visibility_opens_it,
        "A-23",
        "With cross_session_visibility the units are given outside too."
    )
    .needing(&["SESSION"]),
];

/// A session with a unit in it, a member, and an agent outside.
struct Secret {
    room: Room,
    member: Agent,
    outsider: Agent,
    unit: Unit,
}

fn secret(case: &mut Case) -> Checked<Secret> {
    let (creator, member, outsider) = (case.agent_of(8)?, case.agent_of(4)?, case.agent_of(4)?);
    let room = case.room_of(&creator)?;
    let member = room.joined(&member)?;
    let unit = room.creator.record(finding(case.words("The vault is in the cellar")))?;
    Ok(Secret { room, member, outsider, unit })
}

/// A conflict inside a session.
fn quarrel(case: &mut Case) -> Checked<(Secret, Dispute)> {
    let secret = secret(case)?;
    let (a, b) = (secret.room.creator.clone(), secret.member.clone());
    let dispute = case.dispute_between(a, b, json!({}), json!({}))?;
    Ok((secret, dispute))
}

/// A session with these rules for the role `guest`, and a guest in it.
fn ruled(case: &mut Case, rule: &serde_json::Value) -> Checked<(Room, Agent)> {
    let creator = case.agent_of(8)?;
    let room = case.room_of(&creator)?;
    let guest = case.agent_with(json!({"role": "guest", "authority_level": 4}))?;
    let guest = room.joined(&guest)?;
    let policy = json!({"session": {"policy": {"visibility_rules": [rule]}}});
    room.act(&room.creator, "set_policy", policy)?;
    Ok((room, guest))
}

fn l3_visibility_01_members_see_units_of_their_session(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    secret.member.sees(&secret.unit).map(drop)
}

fn l3_visibility_02_others_do_not(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    secret.outsider.misses(&secret.unit)?;
    let inside = secret.outsider.within(&secret.room.id);
    let scope = json!({"scope": {"role": "analyst", "max_units": 1000}});
    let reply = inside.send("ATTUNE", scope)?;
    let told = reply.body.to_string().contains(&secret.unit.content);
    ensure(!told, "speaking in the session's name is enough to see its units")
}

fn l3_visibility_03_null_session_sees_null_session_only(case: &mut Case) -> Checked {
    let (creator, member) = (case.agent_of(8)?, case.agent_of(4)?);
    let room = case.room_of(&creator)?;
    room.joined(&member)?;
    let inside = room.creator.record(finding(case.words("The vault is in the cellar")))?;
    let outside = creator.record(finding(case.words("The roof was mended")))?;
    member.misses(&inside)?;
    member.sees(&outside).map(drop)
}

fn l3_visibility_04_leaving_ends_it(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    secret.member.sees(&secret.unit)?;
    secret.room.act(&secret.member, "leave", json!({}))?;
    let scope = json!({"scope": {"role": "analyst", "max_units": 1000}});
    let reply = secret.member.send("ATTUNE", scope)?;
    ensure(!reply.body.to_string().contains(&secret.unit.content), "who left is still given it")
}

fn l3_visibility_05_others_cannot_write_into_a_session(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    let intruder = secret.outsider.within(&secret.room.id);
    intruder.refused_somehow("RECORD", finding(case.words("The vault was emptied"))).map(drop)
}

fn l3_visibility_06_counts_do_not_tell(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    let count = |agent: &Agent| {
        let answer = agent.attune_since(secret.unit.epoch, json!({}))?;
        answer.integer("/context_budget/units_available")
    };
    let before = count(&secret.outsider)?;
    for _ in 0..5 {
        secret.room.creator.record(finding(case.words("The vault has a door")))?;
    }
    let after = count(&secret.outsider)?;
    // Other agents may record at the same time, but hardly five units.
    ensure(after < before + 5, format!("units_available went from {before} to {after}"))
}

fn l3_visibility_07_conflicts_do_not_tell(case: &mut Case) -> Checked {
    let (secret, dispute) = quarrel(case)?;
    let inside = secret.member.conflict(&dispute.id)?;
    same("id", inside.text("/id")?, dispute.id.as_str())?;
    let listed = secret.outsider.conflicts(json!({}))?;
    ensure(!listed.iter().any(|c| c["id"] == dispute.id.as_str()), "DETECT list shows it")?;
    let answer = secret.outsider.attune(json!({"max_units": 1}))?;
    let given = answer.list("/conflicts")?.iter().any(|c| c["id"] == dispute.id.as_str());
    ensure(!given, "ATTUNE shows it")
}

fn l3_visibility_08_replay_does_not_tell(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    secret.member.replay("memory_unit", &secret.unit.id, "summary")?;
    for (kind, id) in [("memory_unit", &secret.unit.id), ("session", &secret.room.id)] {
        let payload = json!({"target_type": kind, "target_id": id, "depth": "summary"});
        secret.outsider.refused("REPLAY", payload, "UNIT_NOT_FOUND")?;
    }
    Ok(())
}

fn l3_visibility_09_ids_do_not_tell(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    let check = json!({"mode": "check", "target_id": secret.unit.id});
    secret.outsider.refused("DETECT", check, "UNIT_NOT_FOUND")?;
    let word = case.words("The vault is in the attic");
    let claim = |target: &str| {
        crate::actors::json::with(finding(word.clone()), relation("contradicts", target))
    };
    let hidden = secret.outsider.send("RECORD", claim(&secret.unit.id))?;
    let absent = secret.outsider.send("RECORD", claim(&format!("mem-{}", case.token)))?;
    same("status", hidden.status, absent.status)?;
    same("code", hidden.body.get("code"), absent.body.get("code"))
}

fn l3_visibility_10_push_does_not_tell(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    let mut inside = secret.member.subscribe(&["memory.recorded"])?;
    let outside = secret.outsider.subscribe(&["memory.recorded"])?;
    let unit = secret.room.creator.record(finding(case.words("The vault has a door")))?;
    inside.until_unit("memory.recorded", &unit.id)?;
    let told = |got: &serde_json::Value| got["memory_unit_id"] == unit.id.as_str();
    outside.stays_without("an outsider is notified", told)
}

fn l3_visibility_11_role_rules_hide_types(case: &mut Case) -> Checked {
    let rule = json!({"role": "guest", "allow_types": [], "deny_types": ["decision"]});
    let (room, guest) = ruled(case, &rule)?;
    let hidden = room.creator.record(committed("decision", case.words("Move the vault")))?;
    let shown = room.creator.record(finding(case.words("The vault is heavy")))?;
    guest.misses(&hidden)?;
    guest.sees(&shown).map(drop)
}

fn l3_visibility_12_the_registered_role_counts(case: &mut Case) -> Checked {
    let rule = json!({"role": "guest", "allow_types": [], "deny_types": ["decision"]});
    let (room, guest) = ruled(case, &rule)?;
    let hidden = room.creator.record(committed("decision", case.words("Move the vault")))?;
    let found = guest.finds(&hidden, json!({"role": "session_creator"}))?;
    ensure(found.is_none(), "another scope.role shows what the role may not see")
}

fn l3_visibility_13_role_rules_can_allow(case: &mut Case) -> Checked {
    let rule = json!({"role": "guest", "allow_types": ["finding"], "deny_types": []});
    let (room, guest) = ruled(case, &rule)?;
    let hidden = room.creator.record(committed("question", case.words("Where is the key?")))?;
    let shown = room.creator.record(finding(case.words("The vault is heavy")))?;
    guest.misses(&hidden)?;
    guest.sees(&shown).map(drop)
}

fn l3_visibility_14_merge_does_not_tell(case: &mut Case) -> Checked {
    let (_, dispute) = quarrel(case)?;
    let outsider = case.agent_of(6)?;
    let payload = dispute.merge("last_write_wins", json!({}));
    outsider.refused("MERGE", payload, "CONFLICT_NOT_FOUND").map(drop)
}

fn l3_visibility_15_cross_session_visibility_opens_it(case: &mut Case) -> Checked {
    let secret = secret(case)?;
    secret.outsider.misses(&secret.unit)?;
    let policy = json!({"session": {"policy": {"cross_session_visibility": true}}});
    secret.room.act(&secret.room.creator, "set_policy", policy)?;
    secret.outsider.sees(&secret.unit).map(drop)
}
