//! Servers that let in whoever comes, or let everybody do everything.

use serde_json::{Value, json};

use super::{
    tamper::{Answered, Tamper, asks, before, complains, pretends, put, refuses, strip},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_open_door_is_caught() {
    all_are_caught("security", [keys(), strangers()].into_iter().flatten().collect());
}

#[test]
fn every_usurper_is_caught() {
    all_are_caught("authority", [authority(), thresholds()].into_iter().flatten().collect());
}

/// Uses the last key of the operator for requests that have another one.
fn lends_the_key(when: fn(Option<&str>) -> bool) -> Tamper {
    let known: std::sync::Mutex<String> = std::sync::Mutex::default();
    before("*", move |asked, _| {
        let mut known = known.lock().unwrap();
        let given = asked.head.header("authorization").map(str::to_owned);
        if when(given.as_deref()) && !known.is_empty() {
            asked.head.set("authorization", &known);
        } else if let Some(given) = given.filter(|_| known.is_empty()) {
            *known = given;
        }
        None
    })
}

fn keys() -> Vec<Variant> {
    let cases = &["_security_"];
    vec![
        variant(
            "security_needs_no_key",
            "Whoever has no key is taken for the operator",
            cases,
            lends_the_key(|given| given.is_none()),
        ),
        variant(
            "security_any_key",
            "Every key is taken for the operator's",
            cases,
            lends_the_key(|_| true),
        ),
        variant(
            "security_another_code",
            "A missing key answers 403",
            cases,
            super::tamper::after("*", |_, answered, _| {
                if answered.status == 401 {
                    answered.status = 403;
                    answered.body["code"] = json!("INSUFFICIENT_AUTHORITY");
                }
            }),
        ),
        variant(
            "security_looks_at_the_key_last",
            "An unknown agent is told so without a key",
            cases,
            complains("RECORD", |body| {
                if body["code"] == "UNAUTHENTICATED" {
                    body["code"] = json!("AGENT_NOT_REGISTERED");
                }
            }),
        ),
    ]
}

fn strangers() -> Vec<Variant> {
    let cases = &[
        "_refuses_a_stranger",
        "l0_envelope_09",
        "l0_register_05",
        "l1_deregister_0",
        "l0_errors_04",
    ];
    vec![variant(
        "security_strangers_are_welcome",
        "Agents need not be registered",
        cases,
        pretends("*", &["AGENT_NOT_REGISTERED"]),
    )]
}

fn authority() -> Vec<Variant> {
    let cases = &["_authority_"];
    vec![
        variant(
            "authority_for_everybody",
            "Every agent has authority 10",
            cases,
            asks("REGISTER", |payload| {
                if payload["authority_level"].as_u64().is_some_and(|level| level <= 10) {
                    strip(payload, "/authority_level");
                }
            }),
        ),
        variant(
            "authority_any_level",
            "A level outside of the table is taken",
            cases,
            asks("REGISTER", |payload| {
                if payload["authority_level"].as_u64().is_none_or(|level| level > 10) {
                    strip(payload, "/authority_level");
                }
            }),
        ),
        variant(
            "authority_another_code",
            "A lack of authority answers 401",
            cases,
            super::tamper::after("*", |_, answered, _| {
                if answered.status == 403 {
                    answered.status = 401;
                    put(&mut answered.body, "/code", &json!("UNAUTHENTICATED"));
                }
            }),
        ),
        variant(
            "authority_low_levels_stay_out",
            "Authority 0 cannot register",
            &["l3_authority_10"],
            refuses("REGISTER", 403, "INSUFFICIENT_AUTHORITY", |payload| {
                payload["authority_level"] == 0
            }),
        ),
        variant(
            "authority_refuses_and_does",
            "A RECORD without authority is refused, and kept",
            &["l3_authority_22"],
            kept(),
        ),
        variant(
            "authority_nobody_purges",
            "Purging is refused to everybody",
            cases,
            refuses("COMPACT", 403, "INSUFFICIENT_AUTHORITY", |payload| {
                payload["strategy"] == "purge"
            }),
        ),
        variant(
            "authority_pretends",
            "What authority forbids is acknowledged",
            cases,
            pretends("*", &["INSUFFICIENT_AUTHORITY"]),
        ),
    ]
}

/// Gives the refused unit to everybody, as if it had been recorded.
fn kept() -> Tamper {
    let refused: std::sync::Mutex<Value> = std::sync::Mutex::default();
    let refused = std::sync::Arc::new(refused);
    let noted = std::sync::Arc::clone(&refused);
    super::tamper::after("RECORD", move |asked, answered, _| {
        if answered.status == 403 {
            *noted.lock().unwrap() = asked.message["payload"].clone();
        }
    })
    .and(super::tamper::after("ATTUNE", move |_, answered, _| {
        let unit = refused.lock().unwrap().clone();
        if let (true, Some(list)) = (unit.is_object(), answered.body["record"].as_array_mut()) {
            list.push(json!({"memory_unit": unit}));
        }
    }))
}

fn thresholds() -> Vec<Variant> {
    let needs = |operation: &'static str, level: u64| {
        before(operation, move |asked, past| {
            let agent = asked.message["agent_id"].as_str().unwrap_or_default();
            let low = past.authority(agent).is_some_and(|has| has < level);
            low.then(|| Answered::refusal(403, "INSUFFICIENT_AUTHORITY", operation))
        })
    };
    let cases = &["_authority_"];
    [
        ("REPLAY", 2),
        ("ATTUNE", 4),
        ("DETECT", 6),
        ("MERGE", 8),
        ("COMPACT", 8),
        ("SUBSCRIBE", 4),
        ("HANDOFF", 6),
        ("SESSION", 6),
        ("COORDINATE", 6),
        ("DEREGISTER", 10),
        ("RECORD", 6),
    ]
    .into_iter()
    .map(|(operation, level)| {
        let name = format!("authority_{}_needs_{level}", operation.to_lowercase());
        variant(
            &name,
            &format!("{operation} needs authority {level}"),
            cases,
            needs(operation, level),
        )
    })
    .collect()
}
