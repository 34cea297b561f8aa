//! A COMPACT that is only tried tells exactly what it then does: in any Field, for any filter, the texts of syntheses too.

use std::sync::Arc;

use proptest::{option, prelude::*, sample::subsequence};
use quipu_core::{Message, event::Event};
use quipu_field::Field;
use quipu_log::{Engine, FieldName, Header, MemoryEngine};
use quipu_wire::akashik::{
    CompactPayload, CompactResponse, ForeseenSynthesis, MemoryType, UnitStatus,
};
use serde_json::{Map, Value, json};

use crate::{
    coordination::session,
    state_from_log::{name, perform, runtime, session_payload, step},
    support::{message, open_traced, record, register},
};

/// What to compact. Ids are places among the units there are.
#[derive(Debug, Clone)]
struct Wish {
    strategy: &'static str,
    within: bool,
    filter: Map<String, Value>,
    named: Option<Vec<u8>>,
}

fn wish() -> impl Strategy<Value = Wish> {
    let types: Vec<&str> = MemoryType::ALL.iter().map(|kind| kind.as_str()).collect();
    let states: Vec<&str> = UnitStatus::ALL.iter().map(|status| status.as_str()).collect();
    let (some_types, some_states) = (subsequence(types, 0..5), subsequence(states, 0..4));
    let when = option::of(0u64..400)
        .prop_map(|ms| ms.map(|ms| quipu_wire::json::timestamp::rfc3339(1_772_361_000_000 + ms)));
    let parts = (
        option::weighted(0.3, 0u64..20),
        option::weighted(0.3, prop_oneof![Just("session-0"), Just("nowhere")]),
        some_types,
        some_states,
        when,
        option::weighted(0.3, (0u8..4).prop_map(name)),
        option::weighted(0.3, prop_oneof![Just("key-1"), Just("key-2"), Just("key-3")]),
    );
    let filter = parts.prop_map(|(age, session, types, status, when, agent, key)| {
        let all = json!({"max_age_epochs": age, "session_id": session, "types": types, "status": status,
            "older_than": when, "agent": agent, "key": key});
        let Value::Object(all) = all else { return Map::new() };
        all.into_iter().filter(|(_, part)| !part.is_null()).collect()
    });
    let strategy = prop_oneof![3 => Just("summarize"), 1 => Just("archive"), 1 => Just("purge")];
    let named = option::weighted(0.3, proptest::collection::vec(any::<u8>(), 1..6));
    (strategy, any::<bool>(), filter, named).prop_map(|(strategy, within, filter, named)| Wish {
        strategy,
        within,
        filter,
        named,
    })
}

/// A Field in which much was done, also through keys and with less authority.
async fn lived_in(engine: &Arc<dyn Engine>, steps: &[crate::state_from_log::Step]) -> Arc<Field> {
    let field = open_traced(engine);
    register(&field, &name(0)).await.unwrap();
    session(&field, message("opened", &name(0)), session_payload(0, 0)).await.unwrap();
    perform(&field, steps).await;
    register(&field, &name(0)).await.ok();
    for at in 0..6 {
        let id = format!("keyed-{at}");
        let from = Message {
            key: Some(format!("key-{}", at % 3)),
            authority: 4 + at % 2,
            session: (at % 2 == 0).then(|| "session-0".to_owned()),
            ..message(&id, &name(0))
        };
        record(&field, from, &format!("the ships of pier {at}"), json!([])).await.ok();
    }
    field
}

/// What a COMPACT wrote into the log: the units it took, and the syntheses.
fn done(engine: &Arc<dyn Engine>, after: u64) -> (Vec<String>, Vec<ForeseenSynthesis>) {
    let (mut taken, mut written) = (Vec::new(), Vec::new());
    for commit in engine.read(&FieldName::default_field(), after + 1, usize::MAX).unwrap() {
        let header: Header<Event> = serde_json::from_slice(&commit.header).unwrap();
        for (at, sealed) in (0..).zip(header.events) {
            if let Event::UnitsArchived { units, .. } | Event::UnitsPurged { units, .. } =
                &sealed.event
            {
                taken.extend(units.iter().map(ToString::to_string));
            } else if let Event::UnitRecorded { relations, .. } = sealed.event {
                let body: Value = serde_json::from_slice(&commit.body(at).unwrap().json).unwrap();
                written.push(ForeseenSynthesis {
                    content: body["content"].as_str().unwrap().to_owned(),
                    elaborates: relations.into_iter().map(|link| link.target).collect(),
                });
            }
        }
    }
    (taken, written)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_tried_is_what_is_then_done(
        steps in proptest::collection::vec(step(), 0..60),
        wishes in proptest::collection::vec(wish(), 1..5),
    ) {
        runtime().block_on(async {
            let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
            let field = lived_in(&engine, &steps).await;
            let all = field.with_state(|state| {
                let units = (0..state.units.next_ordinal()).filter_map(|at| state.units.details(at));
                units.map(|unit| unit.id.to_string()).collect::<Vec<_>>()
            });
            for (number, mut wish) in wishes.into_iter().enumerate() {
                if let Some(named) = wish.named.filter(|_| !all.is_empty()) {
                    let named = named.iter().map(|at| &all[usize::from(*at) % all.len()]);
                    wish.filter.insert("unit_ids".to_owned(), named.cloned().collect());
                }
                let mut payload = json!({"strategy": wish.strategy, "filter": wish.filter, "dry_run": true});
                let Ok((tried, _)) = CompactPayload::parse(payload.clone()) else { continue };
                let mut from = message(&format!("wish-{number}"), &name(0));
                from.session = wish.within.then(|| "session-0".to_owned());
                let before = field.head();
                let told = field.compact(from.clone(), tried).await;
                prop_assert_eq!(field.head(), before, "nothing is written");
                payload["dry_run"] = json!(false);
                payload["confirm"] = told.as_ref().map_or(json!(null), |told| json!(told.units_affected));
                let (payload, _) = CompactPayload::parse(payload).unwrap();
                let answer = field.compact(from, payload).await;
                match (told, answer) {
                    (Ok(told), Ok(answer)) => {
                        let (units, syntheses) = done(&engine, before.position);
                        let told_bare = CompactResponse { units: None, syntheses: None, ..told.clone() };
                        prop_assert_eq!(told_bare, answer);
                        prop_assert_eq!(told.units.unwrap_or_default(), units);
                        prop_assert_eq!(told.syntheses.unwrap_or_default(), syntheses);
                    }
                    (told, answer) => {
                        prop_assert_eq!(told.map_err(|e| e.code()), answer.map_err(|e| e.code()));
                    }
                }
            }
            Ok(())
        })?;
    }
}
