//! Any node takes any operation, and whoever moves between nodes finds what it did.

use std::collections::BTreeSet;

use quipu_testbed::{Cluster, EngineKind, Message};
use serde_json::json;

use crate::support::{
    Load, Pushes, agree, at_once, finding, record, register, speak, start, units,
};

#[test]
fn three_nodes_over_postgres_are_one() {
    are_one(&start(EngineKind::Postgres));
}

#[test]
fn three_nodes_over_nats_are_one() {
    are_one(&start(EngineKind::Nats));
}

fn are_one(cluster: &Cluster) {
    a_client_that_moves_reads_its_own_writes(cluster);
    a_message_that_all_nodes_get_at_once_is_carried_out_once(cluster);
    a_subscriber_of_one_node_is_told_what_others_took(cluster);
    what_all_nodes_take_at_the_same_time_is_all_there(cluster);
}

fn a_client_that_moves_reads_its_own_writes(cluster: &Cluster) {
    let field = "moving";
    register(cluster, 0, field, "a");
    for number in 0..12 {
        let (here, there) = (number % 3, (number + 1) % 3);
        let (id, position) = record(cluster, here, field, &format!("fact {number}"));
        let mut client = speak(cluster, there, field);
        client = client.with_header("quipu-min-position", &position.to_string());
        let found = client.get(&format!("/v1/units/{id}"));
        assert_eq!(found.status, 200, "{}", found.text());
        let told: u64 = found.header("quipu-position").unwrap().parse().unwrap();
        assert!(told >= position);
    }
    agree(cluster, field);
}

fn a_message_that_all_nodes_get_at_once_is_carried_out_once(cluster: &Cluster) {
    let field = "once";
    register(cluster, 0, field, "a");
    for number in 0..10 {
        let message = Message::new("RECORD", "a", finding(&format!("fact {number}")));
        let message = message.with("id", format!("once-{number}"));
        let answers = at_once(3, |node| speak(cluster, node, field).send(&message).ok());
        let made: BTreeSet<_> =
            answers.iter().map(|answer| answer["memory_unit_id"].to_string()).collect();
        assert_eq!(made.len(), 1, "{answers:?}");
    }
    assert_eq!(agree(cluster, field)["commits"], 11);
}

fn a_subscriber_of_one_node_is_told_what_others_took(cluster: &Cluster) {
    let field = "pushing";
    register(cluster, 0, field, "a");
    register(cluster, 1, field, "watcher");
    let wanted = json!({"action": "subscribe", "subscription": {"events": ["memory.recorded"]}});
    let made = speak(cluster, 0, field).operate("SUBSCRIBE", "watcher", wanted).ok();
    let id = made["subscription"]["id"].as_str().unwrap();
    let cursor = made["subscription"]["cursor"].as_str().unwrap();
    let path = format!("/v1/subscriptions/{id}/events?after={cursor}");
    // It is not open at this node yet, so nobody has told it of the subscription.
    let mut pushes = Pushes::open(cluster, 2, field, &path);
    for number in 0..6 {
        let (id, _) = record(cluster, number % 3, field, &format!("news {number}"));
        assert_eq!(pushes.next()["memory_unit_id"], json!(id));
    }
}

fn what_all_nodes_take_at_the_same_time_is_all_there(cluster: &Cluster) {
    let field = "together";
    let load = Load::start(cluster, field, 6);
    load.await_more(120);
    let written = load.end();
    assert!(written.refusals.is_empty(), "{:?}", written.refusals);
    written.is_there(cluster, field);
    assert!(units(cluster, 2, field).len() >= 120);
}
