//! Servers that read envelopes and bodies carelessly.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{
    tamper::{Answered, Asked, Tamper, after, before, each, put, rewrites, strip, tells},
    trial::{Variant, all_are_caught, variant},
};

const KEYS: [&str; 8] =
    ["protocol", "version", "id", "operation", "agent_id", "session_id", "epoch", "payload"];

#[test]
fn every_careless_reader_is_caught() {
    all_are_caught(
        "envelope",
        [envelopes(), kinds(), ids(), http()].into_iter().flatten().collect(),
    );
}

/// Lays a value over a key of the envelope where it is not as it should be.
fn mends(key: &'static str, good: fn(&Value) -> bool, new: fn(&Asked) -> Value) -> Tamper {
    before("*", move |asked, _| {
        if asked.message.is_object() && asked.message.get(key).is_some_and(|value| !good(value)) {
            asked.message[key] = new(asked);
        }
        None
    })
}

fn envelopes() -> Vec<Variant> {
    let cases = &["l0_envelope_"];
    vec![
        variant(
            "envelope_any_protocol",
            "Messages of another protocol are taken for Akashik",
            cases,
            mends("protocol", |value| value == "akashik", |_| json!("akashik")),
        ),
        variant(
            "envelope_any_version",
            "Every version is taken for 0.1.0",
            cases,
            mends("version", |value| value == "0.1.0", |_| json!("0.1.0")),
        ),
        variant(
            "envelope_fills_in_what_is_missing",
            "Keys that are missing in the envelope are made up",
            cases,
            rewrites("RECORD", |message| {
                let missing = |key: &&&str| message.get(**key).is_none();
                let missing: Vec<&str> = KEYS.iter().filter(missing).copied().collect();
                for key in missing {
                    message[key] = match key {
                        "protocol" => json!("akashik"),
                        "version" => json!("0.1.0"),
                        _ => json!("made-up"),
                    };
                }
            }),
        ),
        variant(
            "envelope_ignores_unknown_keys",
            "Unknown keys of the envelope are dropped in silence",
            cases,
            rewrites("*", |message| {
                if let Some(map) = message.as_object_mut() {
                    map.retain(|key, _| KEYS.contains(&key.as_str()));
                }
            }),
        ),
    ]
}

fn kinds() -> Vec<Variant> {
    let cases = &["l0_envelope_"];
    vec![
        variant(
            "envelope_any_id",
            "A message id may be empty or a number",
            cases,
            mends("id", |id| id.as_str().is_some_and(|id| !id.is_empty()), |_| json!("some-id")),
        ),
        variant(
            "envelope_any_epoch",
            "An epoch that is no natural number counts as 0",
            cases,
            mends("epoch", Value::is_u64, |_| json!(0)),
        ),
        variant(
            "envelope_operation_of_the_route",
            "The operation of the envelope is not looked at",
            cases,
            mends("operation", |_| false, |asked| json!(asked.operation)),
        ),
        variant(
            "envelope_any_route",
            "A message is carried out on whatever route it comes",
            cases,
            before("*", |asked, _| {
                if asked.message["operation"] == "RECORD" {
                    asked.path = "/v1/record".to_owned();
                }
                None
            }),
        ),
        variant(
            "envelope_any_session",
            "A session that is no string counts as none",
            cases,
            mends("session_id", |id| id.is_string() || id.is_null(), |_| Value::Null),
        ),
    ]
}

fn ids() -> Vec<Variant> {
    let count = AtomicU64::new(0);
    let cases = &["l0_envelope_"];
    vec![
        variant(
            "envelope_forgets_message_ids",
            "A message that is sent twice is carried out twice",
            cases,
            rewrites("RECORD", move |message| {
                if message["id"].as_str().is_some_and(|id| !id.is_empty()) {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    message["id"] = json!(format!("forgotten-{number}"));
                }
            }),
        ),
        variant(
            "envelope_refuses_whole_messages",
            "Only bare payloads are taken",
            &["l0_envelope_01"],
            before("RECORD", |asked, _| {
                Some(Answered::refusal(400, "INVALID_PAYLOAD", &asked.operation))
            }),
        ),
        variant(
            "envelope_invents_a_session",
            "Units without a session are put into one",
            &["l0_envelope_13", "l0_record_3"],
            tells("ATTUNE", |body| {
                each(body, "/record/*/memory_unit/source", &|source| {
                    if source["session_id"].is_null() {
                        source["session_id"] = json!("main");
                    }
                });
            }),
        ),
    ]
}

fn http() -> Vec<Variant> {
    let fails = |status| {
        before("RECORD", move |asked, _| {
            asked.message["protocol"].is_null().then(|| Answered::new(status, json!({"oh": "no"})))
        })
    };
    let cases = &["_http_"];
    vec![
        variant(
            "http_answers_in_plain_text",
            "Answers are declared as text/plain",
            cases,
            after("RECORD", |_, answered, _| answered.content_type = "text/plain".to_owned()),
        ),
        variant(
            "http_breaks_on_bad_json",
            "A body that is not JSON answers 500",
            cases,
            fails(500),
        ),
        variant("http_accepts_bad_json", "A body that is not JSON answers 200", cases, fails(200)),
        variant(
            "http_reads_any_type",
            "A body declared as plain text is read as JSON",
            cases,
            before("*", |asked, _| {
                asked.head.set("content-type", "application/json");
                None
            }),
        ),
        variant(
            "http_no_overview",
            "There is no GET /v1/field/status but a page for people",
            cases,
            after("/v1/field/status", |_, answered, _| answered.body = json!("All is well.")),
        ),
        variant(
            "http_agents_without_status",
            "GET /v1/agents does not tell what agents do",
            cases,
            tells("/v1/agents", |body| strip(body, "/agents/*/status")),
        ),
        variant(
            "http_agents_without_role",
            "GET /v1/agents gives every agent the same role",
            cases,
            tells("/v1/agents", |body| put(body, "/agents/*/role", &json!("agent"))),
        ),
        variant(
            "http_no_conflicts",
            "GET /v1/conflicts is always empty",
            cases,
            tells("/v1/conflicts", |body| put(body, "/conflicts", &json!([]))),
        ),
    ]
}
