//! Servers that forget one check on one operation, each operation in turn.

use serde_json::Value;

use super::{
    tamper::{Answered, Tamper, before, pretends},
    trial::{Variant, all_are_caught, variant},
};

const OPERATIONS: [&str; 11] = [
    "RECORD",
    "ATTUNE",
    "DETECT",
    "MERGE",
    "SUBSCRIBE",
    "REPLAY",
    "COMPACT",
    "COORDINATE",
    "HANDOFF",
    "SESSION",
    "DEREGISTER",
];

#[test]
fn every_single_open_door_is_caught() {
    let operations = OPERATIONS.into_iter();
    let variants = operations.flat_map(|operation| [stranger(operation), unkeyed(operation)]);
    let keys =
        ["protocol", "version", "id", "operation", "agent_id", "session_id", "epoch", "payload"];
    let variants = variants.chain(keys.into_iter().map(without_key));
    let ruled = OPERATIONS.into_iter().filter(|operation| *operation != "REPLAY");
    all_are_caught("doors", variants.chain(ruled.map(powerless)).collect());
}

fn named(what: &str, operation: &str) -> String {
    format!("door_{what}_{}", operation.to_lowercase())
}

fn stranger(operation: &'static str) -> Variant {
    let cases = ["l0_envelope_09", "_refuses_a_stranger", "l1_deregister_07"];
    let breaks = format!("{operation} needs no registered agent");
    let tamper = pretends(operation, &["AGENT_NOT_REGISTERED"]);
    variant(&named("stranger", operation), &breaks, &cases, tamper)
}

fn unkeyed(operation: &'static str) -> Variant {
    let breaks = format!("{operation} needs no key");
    let tamper = pretends(operation, &["UNAUTHENTICATED"]);
    variant(&named("unkeyed", operation), &breaks, &["l2_security_01", "l2_security_02"], tamper)
}

fn powerless(operation: &'static str) -> Variant {
    let breaks = format!("{operation} needs no authority");
    let tamper = pretends(operation, &["INSUFFICIENT_AUTHORITY"]);
    variant(&named("powerless", operation), &breaks, &["_authority_"], tamper)
}

fn without_key(key: &'static str) -> Variant {
    let tamper: Tamper = before("RECORD", move |asked, _| {
        let missing = asked.message.is_object() && asked.message.get(key).is_none();
        missing.then(|| Answered::new(200, Value::Object(serde_json::Map::new())))
    });
    let breaks = format!("An envelope needs no {key}");
    variant(&named("envelope_without", key), &breaks, &["l0_envelope_04"], tamper)
}
