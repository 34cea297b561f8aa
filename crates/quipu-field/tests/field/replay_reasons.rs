//! REPLAY tells the reasons that were given: all of them, the one that matters, and the argument that they make.

use std::sync::Arc;

use crate::{
    compact::compact,
    coordination::{act, add, coordinate, from, handoff, make, session, team},
    support::{message, open_across, register},
};
use quipu_core::Message;
use quipu_field::Field;
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::akashik::{
    DetectPayload, MergePayload, ReplayEvent, ReplayPayload, ReplayReasons, ReplayResponse,
    RetractPayload,
};
use serde_json::{Value, json};

const TEAM: [(&str, &str, u8); 3] = [("a", "r", 10), ("b", "r", 10), ("c", "r", 4)];

async fn told(
    field: &Arc<Field>,
    by: Message,
    kind: &str,
    id: &str,
    depth: &str,
) -> ReplayResponse {
    let payload = json!({"target_type": kind, "target_id": id, "depth": depth});
    field.replay(by, ReplayPayload::parse(payload).unwrap().0).await.unwrap()
}

async fn full(field: &Arc<Field>, kind: &str, id: &str) -> ReplayResponse {
    told(field, from("a", None), kind, id, "full_trace").await
}

fn of<'a>(answer: &'a ReplayResponse, kind: &str) -> &'a ReplayEvent {
    answer.timeline.iter().rfind(|event| event.event_type == kind).unwrap()
}

fn reasons(event: &ReplayEvent) -> &ReplayReasons {
    event.reasons.as_ref().unwrap()
}

/// A unit with every reason that a unit can have.
fn reasoned(content: &str, relations: &Value) -> Value {
    json!({"type": "decision", "content": content, "relations": relations,
        "intent": {"purpose": "Keep the cargo dry", "question": "Which hull?"},
        "confidence": {"score": 0.7, "reasoning": "It floated in both trials",
            "evidence": ["trial one", "trial two"], "assumptions": ["no ice"]}})
}

#[tokio::test]
async fn a_unit_tells_everything_that_its_author_gave_as_a_reason() {
    let (_, field) = team(&TEAM).await;
    let oak = add(&field, from("b", None), json!({"content": "Oak lasts"})).await.unwrap();
    let links = json!([{"type": "depends_on", "target_id": oak, "description": "it must last"}]);
    let made = add(&field, from("a", None), reasoned("Build of oak", &links)).await.unwrap();
    let answer = full(&field, "decision", &made).await;
    let event = of(&answer, "RECORD");
    assert_eq!(event.why.as_deref(), Some("It floated in both trials"));
    let given = serde_json::to_value(reasons(event)).unwrap();
    assert_eq!(
        given,
        json!({"purpose": "Keep the cargo dry", "question": "Which hull?", "confidence": 0.7,
            "reasoning": "It floated in both trials", "evidence": ["trial one", "trial two"],
            "assumptions": ["no ice"],
            "relations": [{"type": "depends_on", "target_id": oak, "description": "it must last"}]})
    );
    let detailed = told(&field, from("a", None), "decision", &made, "detailed").await;
    let event = of(&detailed, "RECORD");
    assert_eq!((event.why.as_deref(), &event.reasons), (Some("It floated in both trials"), &None));
    assert_eq!(
        detailed.summary,
        "Decision of a at epoch 5: \"Build of oak\". Because: It floated in both trials (confidence \
         0.70). Purpose: Keep the cargo dry. Question: Which hull? Evidence: trial one; trial two. \
         Assumed: no ice. It depends on b's finding \"Oak lasts\" (it must last), because: r."
    );
}

#[tokio::test]
async fn moves_handoffs_merges_and_compactions_tell_their_reasons() {
    let (_, field) = team(&TEAM).await;
    make(&field, from("a", None), "t", json!({"assignee": "a"})).await;
    act(&field, from("a", None), "t", "start").await.unwrap();
    let block = json!({"action": "block", "task_id": "t", "reason": "no oak"});
    coordinate(&field, from("a", None), block).await.unwrap();
    let offer = json!({"action": "offer", "task_id": "t", "to_agent": "b", "reason": "my shift ends",
        "context": {"summary": "the keel is laid", "open_questions": ["who pays?"],
                    "decisions": ["oak"], "next_steps": ["the mast"]}});
    handoff(&field, from("a", None), offer).await.unwrap();
    let answer = full(&field, "task", "t").await;
    let given = serde_json::to_value(reasons(of(&answer, "HANDOFF"))).unwrap();
    assert_eq!(
        given,
        json!({"reason": "my shift ends", "summary": "the keel is laid", "decisions": ["oak"],
               "open_questions": ["who pays?"], "next_steps": ["the mast"]})
    );
    assert_eq!(of(&answer, "COORDINATE").why.as_deref(), Some("no oak"));
    let handed = "a offered it to b at epoch 7, because: my shift ends; how it stood: the keel is \
                  laid; decided: oak; open: who pays?; to do: the mast.";
    assert!(answer.summary.contains(handed), "{}", answer.summary);
    // Who has no part in a handoff learns that it was offered, and not why.
    let other =
        told(&field, Message { authority: 4, ..from("c", None) }, "task", "t", "full_trace");
    let other = other.await;
    assert_eq!((&of(&other, "HANDOFF").why, &of(&other, "HANDOFF").reasons), (&None, &None));
    assert!(!format!("{other:?}").contains("my shift ends"));

    let first = add(&field, from("a", None), json!({"content": "It leaks"})).await.unwrap();
    let against = json!([{"type": "contradicts", "target_id": first, "description": "by my pump"}]);
    let second = json!({"content": "It is dry", "relations": against});
    let second = add(&field, from("b", None), second).await.unwrap();
    let (all, _) = DetectPayload::parse(json!({"mode": "list"})).unwrap();
    let conflict = field.detect(from("a", None), all).await.unwrap().conflicts[0].id.clone();
    let merge = json!({"conflict_id": conflict, "strategy": "last_write_wins",
        "resolution": {"rationale": "b measured it"}});
    field.merge(from("a", None), MergePayload::parse(merge).unwrap().0).await.unwrap();
    let answer = full(&field, "conflict", &conflict).await;
    assert_eq!(of(&answer, "MERGE").why.as_deref(), Some("b measured it"));
    assert_eq!(reasons(of(&answer, "MERGE")).rationale.as_deref(), Some("b measured it"));
    assert_eq!(of(&answer, "CONFLICT_CREATED").why.as_deref(), Some("by my pump"));
    let last = json!({"strategy": "archive", "reason": "the season is over", "filter": {}});
    compact(&field, "c", last).await.unwrap();
    let answer = full(&field, "memory_unit", &second).await;
    assert_eq!(of(&answer, "COMPACT").why.as_deref(), Some("the season is over"));
    let later = "Later archived by a at epoch 15, because: the season is over.";
    assert!(answer.summary.contains(later), "{}", answer.summary);
}

#[tokio::test]
async fn a_dispute_of_what_a_decision_rests_on_is_told_with_its_end() {
    let (_, field) = team(&TEAM).await;
    let leaks =
        json!({"content": "It leaks", "confidence": {"score": 0.4, "reasoning": "hearsay"}});
    let leaks = add(&field, from("c", None), leaks).await.unwrap();
    let against = json!([{"type": "contradicts", "target_id": leaks}]);
    let dry = json!({"content": "It is dry", "relations": against,
                     "confidence": {"score": 0.9, "reasoning": "I pumped"}});
    let dry = add(&field, from("b", None), dry).await.unwrap();
    let (all, _) = DetectPayload::parse(json!({"mode": "list"})).unwrap();
    let conflict = field.detect(from("a", None), all).await.unwrap().conflicts[0].id.clone();
    let merge = json!({"conflict_id": conflict, "strategy": "confidence_weighted",
        "resolution": {"winner_id": dry, "rationale": "measured beats heard"}});
    field.merge(from("a", None), MergePayload::parse(merge).unwrap().0).await.unwrap();
    let link = json!([{"type": "depends_on", "target_id": dry}]);
    let sail = json!({"type": "decision", "content": "We sail", "relations": link});
    let sail = add(&field, from("a", None), sail).await.unwrap();
    let answer = full(&field, "decision", &sail).await;
    for said in [
        "It depends on b's finding \"It is dry\", because: I pumped.",
        "Disputed at epoch 5: b's finding \"It is dry\" contradicted c's finding \"It leaks\" \
         (replaced at epoch 7). c held that, because: hearsay. Settled by a at epoch 7 by confidence weighted: \
         \"It is dry\" prevails, because: measured beats heard.",
    ] {
        assert!(answer.summary.contains(said), "{said}: {}", answer.summary);
    }
}

#[tokio::test]
async fn what_became_of_a_cause_is_said_and_what_is_hidden_is_not() {
    let (_, field) = team(&TEAM).await;
    let create = json!({"action": "create", "session_id": "s", "session": {"goal": "g"}});
    session(&field, from("a", None), create).await.unwrap();
    let secret = json!({"content": "a secret berth"});
    let secret = add(&field, from("a", Some("s")), secret).await.unwrap();
    let gone = add(&field, from("a", None), json!({"content": "fair wind"})).await.unwrap();
    let erased = json!({"content": "the pilot's name", "type": "observation"});
    let erased = add(&field, from("a", None), erased).await.unwrap();
    let links = json!([{"type": "depends_on", "target_id": secret, "description": "hush"},
        {"type": "depends_on", "target_id": gone}, {"type": "caused_by", "target_id": erased},
        {"type": "informs", "target_id": "mem-nowhere"}]);
    let sail = json!({"type": "decision", "content": "We sail", "relations": links});
    let sail = add(&field, from("a", None), sail).await.unwrap();
    let retract = json!({"unit_id": gone, "intent": {"purpose": "it turned"}});
    let (retract, _) = RetractPayload::parse(retract).unwrap();
    field.retract(from("a", None), retract).await.unwrap();
    let purge =
        json!({"strategy": "purge", "filter": {"types": ["observation"]}, "reason": "asked"});
    compact(&field, "p", purge).await.unwrap();
    for depth in ["summary", "full_trace"] {
        let by = Message { authority: 0, ..from("c", None) };
        let answer = told(&field, by, "decision", &sail, depth).await;
        let everything = serde_json::to_string(&answer).unwrap();
        for hidden in [secret.as_str(), "secret berth", "hush", "pilot"] {
            assert!(!everything.contains(hidden), "{hidden}: {everything}");
        }
        for said in [
            "It depends on a's finding \"fair wind\" (withdrawn at epoch ",
            "It was caused by a's observation whose text was purged",
            "It refers to 2 things not known here, or not for you to see.",
        ] {
            assert!(answer.summary.contains(said), "{said}: {}", answer.summary);
        }
    }
    let answer = full(&field, "decision", &sail).await;
    let erased = answer.timeline.iter().find(|e| e.memory_unit_id.as_deref() == Some(&erased));
    let erased = erased.unwrap();
    assert_eq!(erased.why.as_deref(), Some("(erased)"));
    assert!(reasons(erased).erased, "{erased:?}");
}

#[tokio::test]
async fn units_that_refer_to_each_other_are_told_once() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_across(&engine, None);
    register(&field, "a").await.unwrap();
    // Ids are drawn in order here, so that the first can name the second before it is there.
    let probe = add(&field, message("0", "a"), json!({"content": "probe"})).await.unwrap();
    let number = |id: &str| id.trim_start_matches("mem-").parse::<u128>().unwrap();
    let name = |number: u128| format!("mem-{number:026}");
    let (first, second) = (name(number(&probe) + 3), name(number(&probe) + 6));
    let to = |id: &str| json!([{"type": "depends_on", "target_id": id}]);
    let one = json!({"content": "the hen", "relations": to(&second)});
    assert_eq!(add(&field, message("1", "a"), one).await.unwrap(), first);
    let other = json!({"content": "the egg", "relations": to(&first)});
    assert_eq!(add(&field, message("2", "a"), other).await.unwrap(), second);
    for unit in [&first, &second] {
        let answer = full(&field, "memory_unit", unit).await;
        assert!(answer.summary.chars().count() < 1_000, "{}", answer.summary);
        assert!(answer.summary.matches("depends on").count() <= 1, "{}", answer.summary);
    }
}
