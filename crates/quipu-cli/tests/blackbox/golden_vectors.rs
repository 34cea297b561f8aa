//! The golden vectors of the protocol's conformance chapter, over HTTP.

use serde_json::json;
use tempfile::TempDir;

use crate::support::{Client, Message, Server, Settings, finding, refused, relating, units_of};

struct Vectors {
    // Dropped first: the server goes before its directory.
    client: Client,
    _server: Server,
    _data: TempDir,
}

fn start() -> Vectors {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    Vectors { client: server.client(), _server: server, _data: data }
}

#[test]
fn a_record_sent_at_epoch_1_is_given_2_and_one_sent_at_10_is_given_11() {
    let mut v = start();
    v.client.register("researcher-01", "market_researcher");
    let at = |epoch: u64| {
        Message::new("RECORD", "researcher-01", finding("growth is 23%")).with("epoch", epoch)
    };
    assert_eq!(v.client.send(&at(1)).ok()["epoch"], 2);
    assert_eq!(v.client.send(&at(10)).ok()["epoch"], 11);
    assert_eq!(v.client.send(&at(0)).ok()["epoch"], 12);
}

#[test]
fn b_contradicting_a_unit_makes_one_explicit_conflict_that_the_next_attune_shows() {
    let mut v = start();
    for agent in ["researcher-01", "researcher-02"] {
        v.client.register(agent, "market_researcher");
    }
    v.client.register("strategist-01", "strategist");
    let older = v.client.record("researcher-01", finding("growth is 23%"));
    let older = older["memory_unit_id"].as_str().unwrap();
    let newer = v.client.record("researcher-02", relating("growth is 14%", "contradicts", older));
    let detected = newer["conflicts_detected"].as_array().unwrap();
    assert_eq!(detected.len(), 1);

    let seen = v.client.attune("strategist-01", json!({"role": "strategist", "max_units": 10}));
    let conflict = &seen["conflicts"][0];
    assert_eq!(seen["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(conflict["id"], detected[0]);
    assert_eq!(conflict["status"], "detected");
    assert_eq!(conflict["detected_by"], "explicit");
    assert_eq!(conflict["type"], "factual");
    assert_eq!(conflict["unit_a"], older);
    assert_eq!(conflict["unit_b"], newer["memory_unit_id"]);
    assert!(units_of(&seen).iter().all(|unit| unit["status"] == "contested"), "{seen}");

    let listed = v.client.operate("DETECT", "strategist-01", json!({"mode": "list"})).ok();
    assert_eq!(listed["status"], "ok");
    assert_eq!(&listed["conflicts"][0], conflict);
    assert_eq!(v.client.get("/v1/conflicts").ok()["conflicts"][0], *conflict);
}

#[test]
fn b_detect_lists_only_what_passes_its_filter() {
    let mut v = start();
    for agent in ["a", "b", "c"] {
        v.client.register(agent, "tester");
    }
    let unit = v.client.record("a", finding("yes"));
    v.client.record("b", relating("no", "contradicts", unit["memory_unit_id"].as_str().unwrap()));
    for (filter, found) in [
        (json!({}), 1),
        (json!({"status": ["detected"]}), 1),
        (json!({"status": ["resolved"]}), 0),
        (json!({"types": ["factual"]}), 1),
        (json!({"types": ["strategic"]}), 0),
        (json!({"involving_agents": ["b"]}), 1),
        (json!({"involving_agents": ["c"]}), 0),
    ] {
        let payload = json!({"mode": "list", "filter": filter});
        let listed = v.client.operate("DETECT", "c", payload).ok();
        assert_eq!(listed["conflicts"].as_array().unwrap().len(), found, "{filter}");
    }
}

#[test]
fn c_of_082_and_075_the_unit_of_082_prevails_at_epoch_21() {
    let mut v = start();
    for (agent, role) in [
        ("researcher-01", "market_researcher"),
        ("researcher-02", "market_researcher"),
        ("strategist-01", "strategist"),
    ] {
        v.client.register(agent, role);
    }
    let at = |operation: &str, agent: &str, epoch: u64, payload| {
        Message::new(operation, agent, payload).with("epoch", epoch)
    };
    let mut surer = finding("23% CAGR");
    surer["confidence"]["score"] = json!(0.82);
    let surer = v.client.send(&at("RECORD", "researcher-01", 4, surer)).ok();
    let winner = surer["memory_unit_id"].as_str().unwrap();
    let mut other = relating("14% CAGR", "contradicts", winner);
    other["confidence"]["score"] = json!(0.75);
    let other = v.client.send(&at("RECORD", "researcher-02", 10, other)).ok();
    assert_eq!(other["epoch"], 11);
    let merge = |winner_id: &str| {
        json!({"conflict_id": other["conflicts_detected"][0], "strategy": "confidence_weighted",
               "resolution": {"winner_id": winner_id, "rationale": "more sources"}})
    };
    let loser = other["memory_unit_id"].as_str().unwrap();
    let wrong = v.client.operate("MERGE", "strategist-01", merge(loser));
    refused(&wrong, 409, "MERGE_FAILED");
    let answer = v.client.send(&at("MERGE", "strategist-01", 20, merge(winner))).ok();
    assert_eq!(answer["status"], "resolved");
    assert_eq!(
        answer["conflict"]["resolution"],
        json!({"strategy": "confidence_weighted", "winner_id": winner,
               "rationale": "more sources", "resolved_by": "strategist-01", "epoch_resolved": 21})
    );
    assert_eq!(
        answer["side_effects"],
        json!({"superseded_units": [loser], "new_unit_id": null,
               "notified_agents": ["researcher-01", "researcher-02"]})
    );
    let seen = v.client.attune("strategist-01", json!({"role": "strategist", "max_units": 10}));
    assert_eq!(seen["conflicts"], json!([]));
    let units = units_of(&seen);
    assert_eq!((units.len(), &units[0]["status"]), (1, &json!("active")));
    let again = v.client.operate("MERGE", "strategist-01", merge(winner));
    refused(&again, 409, "INVALID_TRANSITION");
}

#[test]
fn d_i_a_resolved_conflict_is_replayed_from_the_log_also_when_all_else_is_lost() {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut client = server.client();
    for agent in ["researcher-01", "researcher-02", "strategist-01", "auditor-01"] {
        client.register(agent, "market_researcher");
    }
    let mut surer = finding("23% CAGR");
    surer["confidence"]["score"] = json!(0.82);
    let first = client.record("researcher-01", surer)["memory_unit_id"].clone();
    let mut other = relating("14% CAGR", "contradicts", first.as_str().unwrap());
    other["confidence"]["score"] = json!(0.75);
    let second = client.record("researcher-02", other);
    let conflict = &second["conflicts_detected"][0];
    let merge = json!({"conflict_id": conflict, "strategy": "confidence_weighted",
                       "resolution": {"winner_id": first, "rationale": "more sources"}});
    client.operate("MERGE", "strategist-01", merge).ok();
    let replay = json!({"target_type": "conflict", "target_id": conflict, "depth": "full_trace"});
    let before = client.operate("REPLAY", "auditor-01", replay.clone()).ok();
    let events = before["timeline"].as_array().unwrap().iter();
    let events = events.map(|event| (event["event_type"].clone(), event["agent_id"].clone()));
    assert_eq!(
        events.collect::<Vec<_>>(),
        [
            (json!("RECORD"), json!("researcher-01")),
            (json!("RECORD"), json!("researcher-02")),
            (json!("CONFLICT_CREATED"), json!("system")),
            (json!("MERGE"), json!("strategist-01")),
        ]
    );
    let agents = json!(["researcher-01", "researcher-02", "strategist-01"]);
    assert_eq!((&before["agents_involved"], &before["total_events"]), (&agents, &json!(4)));
    server.kill();
    std::fs::remove_dir_all(data.path().join("fields/default/snapshots")).ok();
    let again = Settings::dev(data.path()).start();
    assert_eq!(again.client().operate("REPLAY", "auditor-01", replay).ok(), before);
}

#[test]
fn e_compacting_nothing_is_ok() {
    let mut v = start();
    v.client.register("maintenance-01", "maintenance");
    let payload = json!({"strategy": "archive", "filter": {"max_age_epochs": 100}});
    let answer = v.client.operate("COMPACT", "maintenance-01", payload).ok();
    let nothing = json!({"status": "ok", "units_affected": 0, "synthesis_units_created": 0,
                         "storage_reclaimed_bytes": null});
    assert_eq!(answer, nothing);
}

#[test]
fn f_deregistering_an_unknown_agent_is_not_found_and_no_error() {
    let mut v = start();
    v.client.register("strategist-01", "strategist");
    let answer = v.client.operate("DEREGISTER", "strategist-01", json!({"agent_id": "ghost"})).ok();
    let cleanup = json!({"units_orphaned": 0, "tasks_reassigned": 0});
    assert_eq!(answer, json!({"status": "not_found", "cleanup": cleanup}));
}

#[test]
fn f_a_deregistered_agent_is_gone_but_its_units_stay_and_it_may_come_back() {
    let mut v = start();
    v.client.register("leaver", "tester");
    v.client.register("stayer", "tester");
    v.client.record("leaver", finding("left behind"));
    let answer = v.client.operate("DEREGISTER", "leaver", json!({"agent_id": "leaver"})).ok();
    let cleanup = json!({"units_orphaned": 1, "tasks_reassigned": 0});
    assert_eq!(answer, json!({"status": "ok", "cleanup": cleanup}));

    let late = v.client.operate("RECORD", "leaver", finding("too late"));
    refused(&late, 403, "AGENT_NOT_REGISTERED");
    let agents = v.client.get("/v1/agents").ok();
    assert_eq!(agents["agents"].as_array().unwrap().len(), 1);
    let seen = v.client.attune("stayer", json!({"role": "tester", "max_units": 5}));
    assert_eq!(units_of(&seen)[0]["content"], "left behind");

    assert_eq!(v.client.register("leaver", "tester")["status"], "registered");
}

#[test]
fn g_scores_just_outside_the_range_are_refused_and_its_ends_are_accepted() {
    let mut v = start();
    v.client.register("researcher-01", "market_researcher");
    for mode in ["committed", "draft"] {
        for (score, accepted) in [(-0.01, false), (0.0, true), (1.0, true), (1.01, false)] {
            let mut payload = finding("a score");
            payload["mode"] = json!(mode);
            payload["confidence"]["score"] = json!(score);
            let answer = v.client.operate("RECORD", "researcher-01", payload);
            if accepted {
                assert_eq!(answer.ok()["status"], "accepted", "{mode} {score}");
            } else {
                let message = refused(&answer, 400, "INVALID_CONFIDENCE");
                assert!(message.contains("payload.confidence.score"), "{message}");
            }
        }
    }
}

#[test]
fn h_registering_with_an_operation_that_is_missing_is_rejected_and_the_reason_lists_it() {
    let mut v = start();
    let payload = json!({"id": "needy", "role": "tester", "required_operations": ["RECORD", "X"]});
    let answer = v.client.operate("REGISTER", "needy", payload).ok();
    assert_eq!(answer["status"], "rejected");
    let reason = answer["rejection_reason"].as_str().unwrap();
    assert!(reason.contains('X') && !reason.contains("RECORD"), "{reason}");
    assert!(answer.get("code").is_none(), "{answer}");
    let late = v.client.operate("RECORD", "needy", finding("not in"));
    refused(&late, 403, "AGENT_NOT_REGISTERED");
}

#[test]
fn registering_tells_the_capabilities_and_an_id_is_taken_only_once() {
    let mut v = start();
    let answer = v.client.register("researcher-01", "market_researcher");
    assert_eq!(answer["status"], "registered");
    assert_eq!(answer["agent"]["id"], "researcher-01");
    assert_eq!(answer["agent"]["role"], "market_researcher");
    assert_eq!(answer["agent"]["status"], "idle");
    assert_eq!(answer["agent"]["interests"], json!([]));
    assert_eq!(
        answer["field_capabilities"],
        json!({"conformance_level": 3, "protocol_version": "0.1.0", "persistence": true,
               "supported_operations": ["REGISTER", "DEREGISTER", "RECORD", "ATTUNE", "DETECT", "MERGE",
                                         "SUBSCRIBE", "REPLAY", "COMPACT", "COORDINATE", "HANDOFF",
                                         "SESSION"],
               "conflict_strategies": ["last_write_wins", "confidence_weighted", "authority",
                                        "evidence_count", "synthesis", "human_escalation", "vote"]})
    );
    let again = json!({"id": "researcher-01", "role": "other"});
    refused(&v.client.operate("REGISTER", "researcher-01", again), 409, "AGENT_ID_TAKEN");
}
