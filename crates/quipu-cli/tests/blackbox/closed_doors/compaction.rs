//! COMPACT takes what was asked for and nothing else, and says before what it would do.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::keyed::{Agent, Keyed};
use crate::support::{Client, Server, Settings, finding, refused};

/// A server with seven findings of `ann` and three decisions of `bob`.
fn filled(data: &TempDir) -> (Server, Client, Vec<String>) {
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    client.register("ann", "researcher");
    client.register("bob", "researcher");
    let mut ids = Vec::new();
    for number in 0..10 {
        let text = format!("The gate of the harbour with number {number} opens at {number}.");
        let (agent, mut unit) = (if number < 7 { "ann" } else { "bob" }, finding(&text));
        if number >= 7 {
            unit["type"] = json!("decision");
        }
        ids.push(client.record(agent, unit)["memory_unit_id"].as_str().unwrap().to_owned());
    }
    (server, client, ids)
}

/// COMPACT of what passes a filter, archived without being written.
fn tried(client: &mut Client, filter: &Value) -> (u64, Vec<Value>) {
    let wish = json!({"strategy": "archive", "filter": filter, "dry_run": true});
    let told = client.operate("COMPACT", "ann", wish).ok();
    (told["units_affected"].as_u64().unwrap(), told["units"].as_array().unwrap().clone())
}

#[test]
fn a_misspelled_filter_is_refused_by_every_strategy_and_nothing_is_touched() {
    let data = TempDir::new().unwrap();
    let (_server, mut client, _) = filled(&data);
    for strategy in ["archive", "summarize", "purge"] {
        for (payload, named) in [
            (json!({"filter": {"max_age_epochs": 0, "sesion_id": "s"}}), "filter.sesion_id"),
            (json!({"filter": {"max_age_epochs": 0, "keys": "k"}}), "filter.keys"),
            (json!({"filter": {"max_age_epochs": 0, "key": 5}}), "filter.key"),
            (json!({"filter": {"max_age_epochs": 0}, "dryrun": true}), "dryrun"),
            (json!({"filter": {"unit_ids": []}}), "filter.unit_ids"),
            (json!({"filter": {"older_than": "a while"}}), "filter.older_than"),
        ] {
            let mut payload = payload;
            payload["strategy"] = json!(strategy);
            let answer = client.operate("COMPACT", "ann", payload);
            let message = refused(&answer, 400, "INVALID_PAYLOAD");
            assert!(message.contains(named), "{message}");
        }
    }
    assert_eq!(tried(&mut client, &json!({})).0, 10, "all of them are still there");
}

#[test]
fn units_are_taken_by_id_by_agent_and_by_time() {
    let data = TempDir::new().unwrap();
    let (_server, mut client, ids) = filled(&data);
    let named = json!({"unit_ids": [ids[2], ids[8], "mem-nobody"]});
    assert_eq!(tried(&mut client, &named), (2, vec![json!(ids[2]), json!(ids[8])]));
    assert_eq!(tried(&mut client, &json!({"agent": "bob"})).0, 3);
    assert_eq!(tried(&mut client, &json!({"agent": "nobody"})).0, 0);
    assert_eq!(tried(&mut client, &json!({"older_than": "P1D"})).0, 0, "all are of today");
    assert_eq!(tried(&mut client, &json!({"older_than": "9999-01-01T00:00:00Z"})).0, 10);
    assert_eq!(tried(&mut client, &json!({"older_than": "2020-01-01T00:00:00Z"})).0, 0);
    let both = json!({"agent": "ann", "unit_ids": [ids[1], ids[9]]});
    assert_eq!(tried(&mut client, &both), (1, vec![json!(ids[1])]));
}

#[test]
fn what_is_tried_is_exactly_what_is_then_done() {
    let data = TempDir::new().unwrap();
    let (_server, mut client, ids) = filled(&data);
    for (strategy, filter) in [
        ("archive", json!({"unit_ids": [ids[0]]})),
        ("summarize", json!({"types": ["finding"]})),
        ("purge", json!({"agent": "bob"})),
    ] {
        let mut wish = json!({"strategy": strategy, "filter": filter, "dry_run": true});
        let mut told = client.operate("COMPACT", "ann", wish.clone()).ok();
        wish["dry_run"] = json!(false);
        wish["confirm"] = told["units_affected"].clone();
        let done = client.operate("COMPACT", "ann", wish).ok();
        let told_texts = told.as_object_mut().unwrap().remove("syntheses");
        told.as_object_mut().unwrap().remove("units").expect("the units are named");
        assert_eq!(told, done, "{strategy}");
        assert_eq!(done.get("fidelity").is_some(), strategy == "summarize");
        let syntheses: Vec<Value> =
            told_texts.into_iter().flat_map(|told| told.as_array().unwrap().clone()).collect();
        let scope = json!({"role": "r", "max_units": 100, "include_own": true});
        let given = client.attune("ann", scope);
        for synthesis in &syntheses {
            let written = given["record"]
                .as_array()
                .unwrap()
                .iter()
                .find(|found| found["memory_unit"]["content"] == synthesis["content"]);
            let relations = &written.expect("the foreseen text")["memory_unit"]["relations"];
            let sources = relations.as_array().unwrap().iter().map(|link| &link["target_id"]);
            assert!(sources.eq(synthesis["elaborates"].as_array().unwrap()), "{relations}");
        }
        assert_eq!(syntheses.is_empty(), strategy != "summarize");
    }
}

#[test]
fn a_count_that_is_not_right_is_refused_with_the_right_one() {
    let data = TempDir::new().unwrap();
    let (_server, mut client, _) = filled(&data);
    for confirm in [0, 9, 11] {
        let wish = json!({"strategy": "archive", "filter": {}, "confirm": confirm});
        let message = refused(&client.operate("COMPACT", "ann", wish), 400, "INVALID_PAYLOAD");
        assert!(message.contains("would take 10 units"), "{message}");
    }
    let wish = json!({"strategy": "archive", "filter": {}, "confirm": 10});
    assert_eq!(client.operate("COMPACT", "ann", wish).ok()["units_affected"], 10);
}

/// How many units archiving those of a key would take, and which.
fn of_key(agent: &mut Agent, filter: &Value) -> Value {
    let wish = json!({"strategy": "archive", "filter": filter, "dry_run": true});
    agent.operate("COMPACT", wish).ok()["units"].clone()
}

#[test]
fn units_are_taken_by_the_key_that_they_came_with_also_after_a_restart() {
    let keyed = Keyed::start(&[("ann", 6), ("*", 6)]);
    let mut ann = keyed.agent("ann");
    let mut lent = Agent::by("ann", keyed.with_key_of("*"));
    let own = ann.records(finding("Berth four is free."));
    let through = [lent.records(finding("Berth five behind the lock is free.")), {
        let units = json!({"units": [finding("Berth five behind the lock is free.")]});
        let mut client = keyed.with_key_of("*").with_header("akashik-agent", "ann");
        let answer = client.post("/v1/records", units.to_string()).ok();
        answer["units"][0]["memory_unit_id"].as_str().unwrap().to_owned()
    }];
    let id = |agent: &mut Agent| agent.client.get("/v1/whoami").ok()["key_id"].clone();
    let (own_key, lent_key) = (id(&mut ann), id(&mut lent));
    assert_eq!(of_key(&mut ann, &json!({"key": own_key})), json!([own]));
    assert_eq!(of_key(&mut ann, &json!({"key": lent_key})), json!(through));
    assert_eq!(of_key(&mut ann, &json!({"key": "nobodys1"})), json!([]));
    let both = json!({"key": lent_key, "unit_ids": [own, through[1]]});
    assert_eq!(of_key(&mut ann, &both), json!([through[1]]));
    let keyed = keyed.again();
    let mut ann = Agent::by("ann", keyed.with_key_of("ann"));
    assert_eq!(of_key(&mut ann, &json!({"key": lent_key})), json!(through));
    ann.operate("COMPACT", json!({"strategy": "summarize", "filter": {"key": lent_key}})).ok();
    assert_eq!(of_key(&mut ann, &json!({"key": lent_key})), json!([]));
    let left = of_key(&mut ann, &json!({"key": own_key}));
    assert_eq!(left.as_array().unwrap().len(), 2, "the summary came with the key of who asked");
}
