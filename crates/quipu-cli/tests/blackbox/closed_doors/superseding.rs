//! Replacing what others recorded takes the authority with which they did, and everything that hides a unit can be
//! taken back.

use std::fs;

use serde_json::{Value, json};

use super::keyed::{Agent, Keyed, because, of_type, replacing};
use crate::support::{Settings, finding, quipu, scope, units_of};

fn warning_of(answer: &Value) -> &str {
    answer["warnings"][0].as_str().unwrap_or_else(|| panic!("no warning in {answer}"))
}

/// The open conflicts as a key without limits sees them.
fn conflicts(agent: &mut Agent) -> Vec<Value> {
    agent.client.get("/v1/conflicts").ok()["conflicts"].as_array().unwrap().clone()
}

#[test]
fn a_stronger_units_status_stays_and_a_conflict_says_why() {
    let keyed = Keyed::start(&[("boss", 10), ("intern", 4)]);
    let (mut boss, mut intern) = (keyed.agent("boss"), keyed.agent("intern"));
    let directive = boss.records(of_type("human_directive", "Ask before every deployment."));
    let mine = intern.records(finding("Deployments are quick."));
    let instead = replacing("correction", "Deploy at will.", &[directive.clone(), mine.clone()]);
    let answer = intern.operate("RECORD", instead).ok();
    assert_eq!(answer["conflicts_detected"].as_array().unwrap().len(), 1, "{answer}");
    assert!(warning_of(&answer).contains("needs authority 10"), "{answer}");
    assert_eq!(boss.status(&directive), "active");
    assert_eq!(boss.status(&mine), "superseded", "one's own may always be replaced");
    let new = answer["memory_unit_id"].as_str().unwrap();
    assert_eq!(boss.status(new), "contested");
    let between = conflicts(&mut boss).remove(0);
    assert_eq!((&between["unit_a"], &between["unit_b"]), (&json!(directive), &json!(new)));
    assert!(between["description"].as_str().unwrap().contains("authority"), "{between}");
    let shown = units_of(&intern.client.attune("intern", scope(10)));
    assert!(shown.iter().any(|unit| unit["id"] == json!(directive)), "{shown:?}");
}

#[test]
fn more_than_a_handful_of_others_units_at_once_takes_authority_8() {
    let keyed = Keyed::start(&[("ana", 6), ("bo", 6), ("lead", 8)]);
    let (mut ana, mut bo, mut lead) = (keyed.agent("ana"), keyed.agent("bo"), keyed.agent("lead"));
    let mut those = |round: &str, count: usize| -> Vec<String> {
        (0..count).map(|at| ana.records(finding(&format!("{round} {at}")))).collect()
    };
    let (few, many, rest) = (those("few", 5), those("many", 6), those("rest", 6));
    let answer = bo.operate("RECORD", replacing("synthesis", "Five in one", &few)).ok();
    assert_eq!(answer["conflicts_detected"], json!([]), "{answer}");
    // One unit that names them all, and several units of one request that name some each.
    let answer = bo.operate("RECORD", replacing("synthesis", "Six in one", &many)).ok();
    assert_eq!(answer["conflicts_detected"].as_array().unwrap().len(), 6, "{answer}");
    let halves = [replacing("finding", "a", &rest[..3]), replacing("finding", "b", &rest[3..])];
    let answer = bo.post("/v1/records", &json!({"units": halves})).ok();
    assert_eq!(answer["units"][1]["conflicts_detected"].as_array().unwrap().len(), 3, "{answer}");
    for (units, status) in [(&few, "superseded"), (&many, "active"), (&rest, "active")] {
        for unit in units {
            assert_eq!(lead.status(unit), status);
        }
    }
    lead.operate("RECORD", replacing("synthesis", "All six", &many)).ok();
    assert!(many.iter().all(|unit| lead.status(unit) == "superseded"));
}

#[test]
fn many_small_commits_replace_no_more_of_others_units_than_one() {
    let keyed = Keyed::start(&[("ana", 6), ("bo", 6), ("*", 6), ("op", 10)]);
    let (mut ana, mut bo, mut op) = (keyed.agent("ana"), keyed.agent("bo"), keyed.agent("op"));
    let old: Vec<String> = (0..13).map(|at| ana.records(finding(&format!("old {at}")))).collect();
    let instead = |at: usize| replacing("finding", &format!("new {at}"), &old[at..=at]);
    let new: Vec<String> = (0..5).map(|at| bo.records(instead(at))).collect();
    let answer = bo.operate("RECORD", instead(5)).ok();
    assert!(warning_of(&answer).contains("needs authority 8"), "{answer}");
    assert_eq!((op.status(&old[4]), op.status(&old[5])), ("superseded".into(), "active".into()));
    // Nor does a MERGE in favour of its own unit, while one between others is settled as before.
    let (against, judged) =
        (answer["conflicts_detected"][0].clone(), json!({"rationale": "newer"}));
    let merge =
        json!({"conflict_id": against, "strategy": "last_write_wins", "resolution": judged});
    assert_eq!(bo.operate("MERGE", merge.clone()).status, 403);
    // Nor a vote in which nobody else has a ballot.
    let own_word = json!({"rationale": "newer", "winner_id": answer["memory_unit_id"]});
    let vote = json!({"conflict_id": merge["conflict_id"], "strategy": "vote", "quorum": 1, "resolution": own_word});
    assert_eq!(bo.operate("MERGE", vote).status, 403);
    ana.operate("MERGE", merge).ok();
    assert_eq!(op.status(&old[5]), "superseded");
    // What came back is not counted, and one's own units never are.
    bo.post("/v1/retract", &json!({"unit_id": new[0], "intent": because("it was wrong")})).ok();
    assert_eq!(bo.operate("RECORD", instead(6)).ok()["conflicts_detected"], json!([]));
    let own = bo.records(replacing("finding", "one's own", &new[1..]));
    assert_eq!((op.status(&own), op.status(&new[4])), ("active".into(), "superseded".into()));
    // A key for any agent has no more than one under all names together.
    let names = ["cy", "di", "eve", "flo", "gus", "hal"];
    let replaced = names.into_iter().zip(7..).filter(|(name, at)| {
        let mut agent = Agent::by(name, keyed.with_key_of("*"));
        agent.client.register(name, "tester");
        agent.records(instead(*at));
        op.status(&old[*at]) == "superseded"
    });
    assert_eq!(replaced.count(), 5);
}

#[test]
fn who_borrows_a_name_by_a_weak_key_is_refused() {
    let keyed = Keyed::start(&[("boss", 10), ("*", 4)]);
    let mut boss = keyed.agent("boss");
    let directive = boss.records(of_type("human_directive", "Ask first."));
    let session = json!({"action": "create", "session_id": "board", "session": {"goal": "g"}});
    boss.operate("SESSION", session).ok();
    let mut borrowed = Agent::by("boss", keyed.with_key_of("*"));
    let units = std::slice::from_ref(&directive);
    for (operation, payload) in [
        ("RECORD", replacing("finding", "Do not ask.", units)),
        ("ATTUNE", json!({"scope": {"role": "r", "max_units": 1}})),
        ("SESSION", json!({"action": "end", "session_id": "board"})),
        ("DEREGISTER", json!({"agent_id": "boss"})),
    ] {
        let answer = borrowed.operate(operation, payload);
        assert_eq!(answer.status, 403, "{operation}: {}", answer.json());
    }
    let client = keyed.with_key_of("*").with_header("akashik-agent", "boss");
    let mut client =
        client.with_header("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25");
    let gone = json!({"unit_id": directive, "intent": because("no use")}).to_string();
    for (method, path, body) in [
        ("POST", "/v1/retract", gone.as_bytes()),
        ("GET", "/v1/units", b"".as_slice()),
        ("GET", "/v1/memories", b"".as_slice()),
    ] {
        assert_eq!(client.try_request(method, path, body).unwrap().status, 403, "{path}");
    }
    assert_eq!(boss.status(&directive), "active");
}

#[test]
fn a_merge_replaces_no_more_than_a_record_could() {
    let keyed = Keyed::start(&[("boss", 10), ("intern", 4), ("judge", 6)]);
    let (mut boss, mut intern) = (keyed.agent("boss"), keyed.agent("intern"));
    let mut judge = keyed.agent("judge");
    let directive = boss.records(of_type("human_directive", "Ask first."));
    let mut against = finding("Nobody asks.");
    against["relations"] = json!([{"type": "contradicts", "target_id": directive}]);
    intern.records(against);
    let conflict = conflicts(&mut boss).remove(0)["id"].clone();
    for (strategy, synthesis) in
        [("last_write_wins", Value::Null), ("synthesis", json!("Ask never."))]
    {
        let merge = json!({"conflict_id": conflict, "strategy": strategy,
            "resolution": {"rationale": "it is newer", "synthesis": synthesis}});
        let answer = judge.operate("MERGE", merge);
        assert_eq!(
            (answer.status, answer.json()["code"].as_str()),
            (403, Some("INSUFFICIENT_AUTHORITY"))
        );
        assert_ne!(boss.status(&directive), "superseded", "{strategy}");
    }
    let merge = json!({"conflict_id": conflict, "strategy": "authority",
        "resolution": {"rationale": "by authority"}});
    judge.operate("MERGE", merge).ok();
    assert_eq!(boss.status(&directive), "active");
}

#[test]
fn retracting_what_replaced_a_unit_brings_it_back() {
    let keyed = Keyed::start(&[("ana", 6), ("bo", 6), ("op", 10)]);
    let (mut ana, mut bo, mut op) = (keyed.agent("ana"), keyed.agent("bo"), keyed.agent("op"));
    let old = ana.records(finding("The harbour closes at nine."));
    let new = bo.records(replacing(
        "finding",
        "Pilots like the harbour cafe.",
        std::slice::from_ref(&old),
    ));
    let other =
        op.records(replacing("finding", "A heron stands on the pier.", std::slice::from_ref(&old)));
    let retract = |unit: &str| json!({"unit_id": unit, "intent": because("it was wrong")});
    bo.post("/v1/retract", &retract(&new)).ok();
    assert_eq!(ana.status(&old), "superseded", "another unit still replaces it");
    op.post("/v1/retract", &retract(&other)).ok();
    assert_eq!(ana.status(&old), "active");
    let found = units_of(
        &bo.client.attune("bo", json!({"role": "r", "max_units": 5, "context_hint": "harbour"})),
    );
    assert!(found.iter().any(|unit| unit["id"] == json!(old)), "{found:?}");
    let replay = json!({"target_id": old, "target_type": "memory_unit", "depth": "detailed"});
    let told = bo.operate("REPLAY", replay).ok().to_string();
    assert!(told.contains("RESTORE"), "{told}");
    // The retraction itself can be taken back by who made it, and then replaces again.
    bo.post("/v1/restore", &json!({"unit_ids": [new], "intent": because("it was right")})).ok();
    assert_eq!((bo.status(&new), ana.status(&old)), ("active".into(), "superseded".into()));
}

#[test]
fn what_was_archived_comes_back_for_who_may_archive() {
    let keyed = Keyed::start(&[("ana", 6), ("intern", 4)]);
    let (mut ana, mut intern) = (keyed.agent("ana"), keyed.agent("intern"));
    let units = [intern.records(finding("One lamp.")), intern.records(finding("Two lamps."))];
    ana.operate("COMPACT", json!({"strategy": "archive", "filter": {}})).ok();
    let hidden = units_of(&ana.client.attune("ana", scope(10)));
    assert!(hidden.is_empty(), "{hidden:?}");
    let restore = json!({"unit_ids": units, "intent": because("still needed")});
    assert_eq!(intern.post("/v1/restore", &restore).status, 403);
    let answer = ana.post("/v1/restore", &restore).ok();
    assert_eq!(answer["restored"][1]["was"], "archived", "{answer}");
    assert_eq!(units_of(&ana.client.attune("ana", scope(10))).len(), 2);
    assert_eq!(ana.post("/v1/restore", &restore).status, 409, "there is nothing left to restore");
}

#[test]
fn what_authority_10_withdrew_its_author_does_not_bring_back() {
    let keyed = Keyed::start(&[("ana", 6), ("op", 10)]);
    let (mut ana, mut op) = (keyed.agent("ana"), keyed.agent("op"));
    let [kept, overruled] = ["mine", "theirs"].map(|text| ana.records(finding(text)));
    let retract = |unit: &str| json!({"unit_id": unit, "intent": because("it was wrong")});
    let restore = |unit: &str| json!({"unit_ids": [unit], "intent": because("it was right")});
    ana.post("/v1/retract", &retract(&kept)).ok();
    op.post("/v1/retract", &retract(&overruled)).ok();
    ana.post("/v1/restore", &restore(&kept)).ok();
    assert_eq!(ana.post("/v1/restore", &restore(&overruled)).status, 403);
    op.post("/v1/restore", &restore(&overruled)).ok();
    assert_eq!(ana.status(&overruled), "active");
}

#[test]
fn what_came_back_is_the_same_from_the_log_and_from_a_snapshot() {
    let keyed = Keyed::start(&[("ana", 6), ("op", 10)]);
    let (mut ana, mut op) = (keyed.agent("ana"), keyed.agent("op"));
    let old = op.records(of_type("constraint", "At most nine ships."));
    ana.records(replacing("finding", "Paint is stored in shed four.", std::slice::from_ref(&old)));
    let new =
        op.records(replacing("constraint", "Ropes are kept dry.", std::slice::from_ref(&old)));
    op.post("/v1/retract", &json!({"unit_id": new, "intent": because("nine it is")})).ok();
    // The first had no effect and does not hold it back; their conflict is still open.
    assert_eq!(op.status(&old), "contested");
    let Keyed { server, data, .. } = keyed;
    server.stop();
    let path = data.path().to_str().unwrap();
    quipu(["verify", "--data", path]).succeeded();
    fs::remove_dir_all(data.path().join("fields/default/snapshots")).ok();
    let server = Settings::new(data.path()).start();
    drop(server);
    quipu(["verify", "--data", path]).succeeded();
}
