//! Servers that show what is hidden.

use serde_json::{Value, json};

use super::{
    attune::also_gives,
    tamper::{Tamper, after, asks, before, pretends, put, rewrites, strip, swallows},
    trial::{Variant, all_are_caught, variant},
};

#[test]
fn every_leak_is_caught() {
    all_are_caught("visibility", [units(), sessions(), rules()].into_iter().flatten().collect());
}

/// Carries an operation out in the name of the last agent that created a session.
fn as_creator(operation: &'static str) -> Tamper {
    before(operation, |asked, past| {
        let created = past.last("SESSION", |act| act.payload["action"] == "create")?;
        asked.message["agent_id"] = json!(created.agent);
        asked.message["session_id"] = created.answer["session"]["id"].clone();
        None
    })
}

fn units() -> Vec<Variant> {
    let cases = &["l3_visibility_"];
    vec![
        variant(
            "visibility_of_everything",
            "Every unit is given to everybody",
            cases,
            also_gives(|_, _| true),
        ),
        variant(
            "visibility_of_nothing",
            "Units of a session are given to nobody",
            cases,
            rewrites("ATTUNE", |message| message["session_id"] = Value::Null),
        ),
        variant(
            "visibility_counts_tell",
            "units_available counts hidden units",
            cases,
            after("ATTUNE", |_, answered, past| {
                answered.body["context_budget"]["units_available"] = json!(past.of("RECORD").len());
            }),
        ),
        variant(
            "visibility_conflicts_tell",
            "DETECT shows everybody the session's conflicts",
            cases,
            as_creator("DETECT"),
        ),
        variant(
            "visibility_replay_tells",
            "REPLAY tells everybody of hidden units",
            cases,
            as_creator("REPLAY"),
        ),
        variant(
            "visibility_merge_tells",
            "MERGE lets everybody resolve hidden conflicts",
            cases,
            as_creator("MERGE"),
        ),
        variant(
            "visibility_relations_tell",
            "A contradiction of a hidden unit is accepted",
            cases,
            after("RECORD", |asked, answered, past| {
                let target = &asked.message["payload"]["relations"][0]["target_id"];
                if answered.has_code(&["UNIT_NOT_FOUND"]) && past.unit(target).is_some() {
                    answered.body["code"] = json!("INSUFFICIENT_AUTHORITY");
                }
            }),
        ),
        variant(
            "visibility_push_tells",
            "Subscribers outside are notified too",
            cases,
            before("SUBSCRIBE", |asked, past| {
                let joined = past.last("SESSION", |act| act.payload["action"] == "join")?;
                asked.message["agent_id"] = json!(joined.agent);
                asked.message["session_id"] = joined.payload["session_id"].clone();
                None
            }),
        ),
    ]
}

fn sessions() -> Vec<Variant> {
    let cases = &["l3_visibility_"];
    vec![
        variant(
            "visibility_after_leaving",
            "Who left still sees the session",
            cases,
            swallows("SESSION", |payload| payload["action"] == "leave"),
        ),
        variant(
            "visibility_everybody_writes",
            "Everybody may write into a session",
            cases,
            pretends("RECORD", &[]),
        ),
        variant(
            "visibility_never_opens",
            "cross_session_visibility is not looked at",
            cases,
            asks("SESSION", |payload| {
                strip(payload, "/session/policy/cross_session_visibility");
                put(payload, "/session/policy/quorum", &json!(2));
            }),
        ),
    ]
}

fn rules() -> Vec<Variant> {
    let cases = &["l3_visibility_"];
    vec![
        variant(
            "visibility_without_role_rules",
            "The rules for roles are not looked at",
            cases,
            asks("SESSION", |payload| put(payload, "/session/policy/visibility_rules", &json!([]))),
        ),
        variant(
            "visibility_of_the_scopes_role",
            "The role of the scope counts, not the registered one",
            cases,
            before("ATTUNE", |asked, past| {
                let role = asked.message["payload"]["scope"]["role"].clone();
                let created = past.last("SESSION", |act| act.payload["action"] == "create")?;
                if role == "session_creator" {
                    asked.message["agent_id"] = json!(created.agent);
                    asked.message["payload"]["scope"]["include_own"] = json!(true);
                }
                None
            }),
        ),
    ]
}
