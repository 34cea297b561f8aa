//! Some types of units are not for everybody to record: a table of each Field says with which authority.

use serde_json::{Value, json};

use super::keyed::{Agent, Keyed, because, of_type, replacing};
use crate::support::{Answer, finding};

fn draft_of(kind: &str) -> Value {
    let mut unit = of_type(kind, "Do as I say.");
    unit["mode"] = "draft".into();
    unit
}

#[track_caller]
fn is_refused(answer: &Answer, words: &[&str]) {
    let body = answer.json();
    assert_eq!(
        (answer.status, body["code"].as_str()),
        (403, Some("INSUFFICIENT_AUTHORITY")),
        "{body}"
    );
    let message = body["message"].as_str().unwrap();
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
}

#[test]
fn only_authority_9_speaks_for_a_human() {
    let keyed = Keyed::start(&[("intern", 4), ("lead", 8), ("human", 9)]);
    let directive = of_type("human_directive", "Do as I say.");
    for name in ["intern", "lead"] {
        let mut agent = keyed.agent(name);
        let own = if name == "intern" { "4" } else { "8" };
        let words = ["human_directive", "authority 9", own];
        is_refused(&agent.operate("RECORD", directive.clone()), &words);
        is_refused(&agent.operate("RECORD", draft_of("human_directive")), &words);
        let batch = json!({"units": [finding("harmless"), directive]});
        is_refused(&agent.post("/v1/records", &batch), &words);
    }
    keyed.agent("human").records(directive);
}

#[test]
fn a_draft_of_a_constraint_or_a_decision_takes_what_the_whole_takes() {
    let keyed = Keyed::start(&[("observer", 2), ("worker", 4)]);
    let (mut observer, mut worker) = (keyed.agent("observer"), keyed.agent("worker"));
    for kind in ["constraint", "decision"] {
        is_refused(&observer.operate("RECORD", draft_of(kind)), &[kind, "authority 4", "2"]);
        worker.records(draft_of(kind));
    }
    observer.records(draft_of("observation"));
}

#[test]
fn a_weak_key_speaks_for_no_human_under_a_strong_name() {
    let keyed = Keyed::start(&[("boss", 10), ("*", 4)]);
    keyed.agent("boss");
    let mut borrowed = Agent::by("boss", keyed.with_key_of("*"));
    let directive = of_type("human_directive", "Do as I say.");
    is_refused(&borrowed.operate("RECORD", directive), &["boss", "authority 10", "4"]);
}

#[test]
fn an_operator_changes_the_table_of_its_field_and_nobody_else_does() {
    let keyed = Keyed::start(&[("lead", 8), ("worker", 4), ("operator", 10)]);
    let mut lead = keyed.agent("lead");
    let (mut worker, mut operator) = (keyed.agent("worker"), keyed.agent("operator"));
    let change = json!({"least": [{"type": "human_directive", "authority": 8},
        {"type": "synthesis", "mode": "committed", "authority": 7}],
        "intent": because("the leads speak for us")});
    let refused = lead.post("/v1/field/authority", &change);
    assert_eq!(refused.status, 403, "{}", refused.json());
    let answer = operator.post("/v1/field/authority", &change).ok();
    let least = |kind: &str, mode: &str| {
        let rows = answer["least"].as_array().unwrap();
        let row = rows.iter().find(|row| row["type"] == kind && row["mode"] == mode).unwrap();
        row["authority"].clone()
    };
    assert_eq!(least("human_directive", "draft"), 8);
    assert_eq!(
        (least("synthesis", "committed"), least("synthesis", "draft")),
        (json!(7), json!(2))
    );
    assert_eq!(worker.client.get("/v1/field/authority").ok()["least"], answer["least"]);
    lead.records(of_type("human_directive", "Do as we say."));
    is_refused(&worker.operate("RECORD", of_type("synthesis", "All in all")), &["synthesis", "7"]);
    // It is in the log, so a server that starts again knows it.
    let keyed = keyed.again();
    let mut worker = Agent::by("worker", keyed.with_key_of("worker"));
    is_refused(&worker.operate("RECORD", of_type("synthesis", "All in all")), &["synthesis", "7"]);
}

#[test]
fn a_synthesis_that_the_field_writes_is_judged_too() {
    let keyed = Keyed::start(&[("ana", 6), ("operator", 10)]);
    let (mut ana, mut operator) = (keyed.agent("ana"), keyed.agent("operator"));
    let change = json!({"least": [{"type": "synthesis", "authority": 8}],
        "intent": because("few write summaries")});
    operator.post("/v1/field/authority", &change).ok();
    let first = ana.records(finding("Four ships came."));
    let mut against = finding("Five ships came.");
    against["relations"] = json!([{"type": "contradicts", "target_id": first}]);
    let conflict = ana.operate("RECORD", against).ok()["conflicts_detected"][0].clone();
    let merge = json!({"conflict_id": conflict, "strategy": "synthesis",
        "resolution": {"rationale": "both", "synthesis": "Four or five ships came."}});
    is_refused(&ana.operate("MERGE", merge), &["synthesis", "authority 8"]);
    for _ in 0..3 {
        ana.records(finding("The pilot of the harbour came aboard."));
    }
    let compact = json!({"strategy": "summarize", "filter": {}});
    is_refused(&ana.operate("COMPACT", compact), &["synthesis", "authority 8"]);
    operator.records(replacing("synthesis", "Nine in all.", &[]));
}
