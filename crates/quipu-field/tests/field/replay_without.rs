//! REPLAY without some units: what a decision's author would have been given then, and what of its causes falls away.

use std::sync::Arc;

use crate::{
    coordination::{add, from, session, team},
    support::{open_traced, register},
};
use quipu_core::Message;
use quipu_field::{Field, FieldError};
use quipu_log::{Engine, MemoryEngine};
use quipu_wire::{
    ErrorCode,
    akashik::{AttunePayload, ReplayPayload, ReplayWithout, ShownUnit},
};
use serde_json::{Value, json};

async fn without(
    field: &Arc<Field>,
    by: Message,
    decision: &str,
    units: &[&str],
) -> Result<Option<ReplayWithout>, FieldError> {
    let payload = json!({"target_type": "decision", "target_id": decision, "depth": "summary",
                         "without": units});
    Ok(field.replay(by, ReplayPayload::parse(payload).unwrap().0).await?.without)
}

fn ids(units: &[ShownUnit]) -> Vec<&str> {
    units.iter().map(|unit| unit.memory_unit_id.as_str()).collect()
}

fn found(content: &str) -> Value {
    json!({"content": content})
}

#[tokio::test]
async fn what_was_shown_is_shown_again_as_if_a_unit_had_never_been() {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let field = open_traced(&engine);
    for agent in ["a", "b"] {
        register(&field, agent).await.unwrap();
    }
    let old = add(&field, from("b", None), found("the old pump moves 40 litres")).await.unwrap();
    let replaces = json!([{"type": "supersedes", "target_id": old}]);
    let new = json!({"content": "the new pump moves 90 litres", "relations": replaces});
    let new = add(&field, from("b", None), new).await.unwrap();
    let rests = json!([{"type": "depends_on", "target_id": new}]);
    let dry = json!({"content": "the pump keeps the hull dry", "relations": rests});
    let dry = add(&field, from("b", None), dry).await.unwrap();
    let hint = json!({"scope": {"role": "planner", "max_units": 2}, "context_hint": "which pump"});
    let attuned =
        field.attune(from("a", None), AttunePayload::parse(hint).unwrap().0).await.unwrap();
    assert_eq!(attuned.record.len(), 2);
    let rests = json!([{"type": "depends_on", "target_id": new, "description": "it moves more"},
                       {"type": "caused_by", "target_id": dry}]);
    let made = json!({"type": "decision", "content": "we keep the pump", "relations": rests});
    let made = add(&field, from("a", None), made).await.unwrap();
    let later = add(&field, from("b", None), found("it broke")).await.unwrap();

    let head = field.head();
    let told = without(&field, from("b", None), &made, &[&new, &later, "mem-nope"]).await.unwrap();
    let told = told.unwrap();
    assert_eq!(field.head(), head, "nothing is written");
    let mut expected = vec![new.clone(), later];
    expected.sort();
    assert_eq!((told.units, told.unknown), (expected, vec!["mem-nope".to_owned()]));
    let [again] = &told.attunes[..] else { panic!("{:?}", told.attunes) };
    assert_eq!(again.trace_id, attuned.trace_id);
    assert!(again.again_the_same);
    assert!(ids(&again.shown).contains(&new.as_str()));
    let would_be = ids(&again.would_be);
    assert!(would_be.contains(&old.as_str()) && would_be.contains(&dry.as_str()), "{again:?}");
    assert!(!would_be.contains(&new.as_str()));
    let target = |relations: &[quipu_wire::akashik::Relation]| {
        relations.iter().map(|relation| relation.target_id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (target(&told.causes_lost), target(&told.causes_left)),
        (vec![new], vec![dry.clone()])
    );
    assert_eq!(told.causes_shaken, [dry]);
    for said in [
        "Its author would not have been given b's finding \"the new pump moves 90 litres\", but b's \
         finding \"the old pump moves 40 litres\" instead.",
        "Of what it rests on directly falls away: b's finding \"the new pump moves 90 litres\".",
    ] {
        assert!(told.summary.contains(said), "{said}: {}", told.summary);
    }
    assert!(told.cannot_know[0].contains("concluded"), "{:?}", told.cannot_know);
}

#[tokio::test]
async fn where_nothing_was_traced_it_says_so_and_asks_for_the_purpose() {
    let (_, field) = team(&[("a", "r", 10), ("b", "r", 10)]).await;
    let ships = add(&field, from("b", None), found("three ships")).await.unwrap();
    let made = json!({"type": "decision", "content": "buy", "intent": {"purpose": "more ships"}});
    let made = add(&field, from("a", None), made).await.unwrap();
    let told = without(&field, from("b", None), &made, &[&ships]).await.unwrap().unwrap();
    let [again] = &told.attunes[..] else { panic!("{:?}", told.attunes) };
    assert_eq!((&again.trace_id, again.context_hint.as_deref()), (&None, Some("more ships")));
    assert_eq!((ids(&again.shown), again.would_be.len()), (vec![ships.as_str()], 0));
    assert!(told.cannot_know.iter().any(|said| said.contains("not traced")));
    assert!(told.summary.contains("Nothing that it rests on directly falls away."));
}

#[tokio::test]
async fn what_the_caller_may_not_see_is_unknown_and_not_shown() {
    let (_, field) = team(&[("a", "r", 10), ("b", "r", 4)]).await;
    let create = json!({"action": "create", "session_id": "s", "session": {"goal": "g"}});
    session(&field, from("a", None), create).await.unwrap();
    let secret = add(&field, from("a", Some("s")), found("a secret berth")).await.unwrap();
    let rests = json!([{"type": "depends_on", "target_id": secret}]);
    let made = json!({"type": "decision", "content": "we sail", "relations": rests});
    let made = add(&field, from("a", None), made).await.unwrap();
    let b = || Message { authority: 0, ..from("b", None) };
    let told = without(&field, b(), &made, &[&secret]).await.unwrap().unwrap();
    assert_eq!((told.units.len(), &told.unknown), (0, &vec![secret.clone()]));
    let nothing = without(&field, b(), &made, &["mem-00000000000000000000000zzz"]).await.unwrap();
    let mut nothing = nothing.unwrap();
    nothing.unknown = vec![secret];
    assert_eq!(told, nothing, "hidden and unknown are the same");
    let refused = without(&field, b(), "mem-00000000000000000000000zzz", &[&made]).await;
    assert_eq!(refused.unwrap_err().code(), ErrorCode::UnitNotFound);
}

/// Otherwise the places that are left would tell how much is hidden.
#[tokio::test]
async fn what_the_caller_may_not_see_takes_no_place_of_what_would_be() {
    let (_, field) = team(&[("a", "r", 6), ("c", "r", 10), ("v", "r", 4)]).await;
    let rules = json!([{"below_authority": 6, "deny_types": ["finding"]}]);
    let policy = json!({"cross_session_visibility": true, "visibility_rules": rules});
    let create = json!({"action": "create", "session_id": "s",
                        "session": {"goal": "kiwis", "policy": policy}});
    session(&field, from("c", None), create).await.unwrap();
    for number in 0..12 {
        add(&field, from("c", None), found(&format!("kiwi of tree {number} is ripe")))
            .await
            .unwrap();
    }
    let decide = || json!({"type": "decision", "content": "we pick", "intent": {"purpose": "the ripe kiwi"}});
    let before = add(&field, from("a", None), decide()).await.unwrap();
    for number in 0..6 {
        let hidden = found(&format!("the ripe kiwi number {number} is rotten"));
        add(&field, from("c", Some("s")), hidden).await.unwrap();
    }
    let after = add(&field, from("a", None), decide()).await.unwrap();
    let v = || Message { authority: 4, ..from("v", None) };
    for decision in [before, after] {
        let told = without(&field, v(), &decision, &["mem-none"]).await.unwrap().unwrap();
        assert_eq!(told.attunes[0].would_be.len(), 10, "{:?}", told.attunes[0]);
    }
}
