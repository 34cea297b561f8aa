//! Servers that keep a wrong registry.

use serde_json::json;

use super::{
    tamper::{
        Answered, Tamper, after, asks, before, keep, pretends, put, refuses, strip, swallows, tells,
    },
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_wrong_registry_is_caught() {
    let all = [answers(), rejections(), capabilities(), leaving(), left()];
    all_are_caught("register", all.into_iter().flatten().collect());
}

fn answers() -> Vec<Variant> {
    let cases = &["_register_"];
    vec![
        variant(
            "register_gives_one_role_to_all",
            "REGISTER answers with a role of its own",
            cases,
            tells("REGISTER", |body| put(body, "/agent/role", &json!("agent"))),
        ),
        variant(
            "register_takes_a_live_id",
            "An id that is in use is registered again",
            cases,
            pretends("REGISTER", &["AGENT_ID_TAKEN"]),
        ),
        variant(
            "register_starts_at_work",
            "A new agent is working",
            cases,
            tells("REGISTER", |body| put(body, "/agent/status", &json!("working"))),
        ),
        variant(
            "register_needs_no_role",
            "A missing id or role is made up",
            cases,
            pretends("REGISTER", &["INVALID_PAYLOAD"]),
        ),
        variant(
            "register_forgets_interests",
            "The interests are not kept",
            cases,
            asks("REGISTER", |payload| strip(payload, "/interests")),
        ),
        variant(
            "register_keeps_ids_for_ever",
            "An id is taken also after its agent left",
            cases,
            before("REGISTER", |asked, past| {
                let id = &asked.message["payload"]["id"];
                let known = past.last("REGISTER", |before| before.payload["id"] == *id);
                known.map(|_| Answered::refusal(409, "AGENT_ID_TAKEN", "REGISTER"))
            }),
        ),
    ]
}

fn rejections() -> Vec<Variant> {
    let cases = &["_register_"];
    let ignores = || asks("REGISTER", |payload| strip(payload, "/required_operations"));
    vec![
        variant(
            "register_ignores_required_operations",
            "Missing operations do not stand in the way",
            cases,
            ignores(),
        ),
        variant(
            "register_blames_everything",
            "A rejection names operations that are there",
            cases,
            after("REGISTER", |_, answered, _| {
                if answered.body["status"] == "rejected" {
                    answered.body["rejection_reason"] = json!("one of RECORD, DIVINATE is missing");
                }
            }),
        ),
        variant(
            "register_rejects_and_registers",
            "An agent that was rejected is registered all the same",
            cases,
            before("REGISTER", |asked, _| {
                let asks = asked.message["payload"]["required_operations"].to_string();
                if asks.contains("DIVINATE") {
                    asked.message["payload"]["required_operations"] = json!([]);
                    asked.head.set("x-rejected", "yes");
                }
                None
            })
            .and(after("REGISTER", |asked, answered, _| {
                if asked.head.header("x-rejected").is_some() {
                    answered.body = json!({"status": "rejected", "rejection_reason": "DIVINATE"});
                }
            })),
        ),
        variant(
            "register_refuses_all_requirements",
            "Whoever requires operations is rejected",
            cases,
            refuses("REGISTER", 400, "INVALID_PAYLOAD", |payload| {
                payload.get("required_operations").is_some()
            }),
        ),
    ]
}

fn capabilities() -> Vec<Variant> {
    let cases = &["_register_"];
    vec![
        variant(
            "register_without_capabilities",
            "The answer has no protocol_version",
            cases,
            tells("REGISTER", |body| strip(body, "/field_capabilities/protocol_version")),
        ),
        variant(
            "register_claims_too_much",
            "Level 3 is claimed without COORDINATE",
            cases,
            tells("REGISTER", |body| {
                put(body, "/field_capabilities/conformance_level", &json!(3));
                keep(body, "/field_capabilities/supported_operations", |name| name != "COORDINATE");
            }),
        ),
        variant(
            "register_claims_level_1",
            "A Field with everything claims Level 1",
            cases,
            tells("REGISTER", |body| put(body, "/field_capabilities/conformance_level", &json!(1))),
        ),
    ]
}

fn leaving() -> Vec<Variant> {
    let cases = &["_deregister_"];
    vec![
        variant(
            "deregister_does_nothing",
            "DEREGISTER is acknowledged and swallowed",
            cases,
            swallows("DEREGISTER", |payload| payload["agent_id"].is_string()),
        ),
        variant(
            "deregister_unknown_is_an_error",
            "An unknown agent answers an error",
            cases,
            not_found(Answered::refusal(404, "AGENT_NOT_REGISTERED", "DEREGISTER")),
        ),
        variant(
            "deregister_unknown_is_ok",
            "An unknown agent answers ok",
            cases,
            tells("DEREGISTER", |body| put(body, "/status", &json!("ok"))),
        ),
        variant(
            "deregister_counts_nothing",
            "The answer has no counts",
            cases,
            tells("DEREGISTER", |body| strip(body, "/cleanup")),
        ),
        variant(
            "deregister_counts_wrongly",
            "The counts are always 0",
            cases,
            tells("DEREGISTER", |body| {
                put(body, "/cleanup/units_orphaned", &json!(0));
                put(body, "/cleanup/tasks_reassigned", &json!(0));
            }),
        ),
    ]
}

fn not_found(instead: Answered) -> Tamper {
    after("DEREGISTER", move |_, answered, _| {
        if answered.body["status"] == "not_found" {
            *answered = instead.clone();
        }
    })
}

fn left() -> Vec<Variant> {
    let cases = &["_deregister_"];
    vec![
        variant(
            "deregister_takes_units_along",
            "Units of an agent that left are given no more",
            cases,
            after("ATTUNE", |_, answered, past| {
                let left = past.of("DEREGISTER");
                keep(&mut answered.body, "/record", |item| {
                    let author = &item["memory_unit"]["source"]["agent_id"];
                    !left.iter().any(|gone| gone.payload["agent_id"] == *author)
                });
            }),
        ),
        variant(
            "deregister_of_oneself_by_default",
            "A DEREGISTER that names nobody removes the caller",
            cases,
            before("DEREGISTER", |asked, _| {
                if asked.message["payload"]["agent_id"].is_null() {
                    asked.message["payload"]["agent_id"] = asked.message["agent_id"].clone();
                }
                None
            }),
        ),
        variant(
            "deregister_stays_in_the_list",
            "GET /v1/agents still has an agent that left",
            cases,
            after("/v1/agents", |_, answered, past| {
                let gone =
                    past.of("DEREGISTER").into_iter().map(|left| left.payload["agent_id"].clone());
                let list = answered.body["agents"].as_array_mut().unwrap();
                list.extend(gone.map(|id| json!({"id": id, "role": "guest", "status": "idle"})));
            }),
        ),
    ]
}
