//! The way between one node and the log is cut, one way or both, or slow. The other nodes go on, and so does this one
//! once it can.

use std::time::Duration;

use quipu_testbed::{Client, Cluster, EngineKind, Message, wait_until};

use crate::support::{Load, finding, speak, start};

#[test]
fn over_postgres_a_node_that_is_cut_off_stops_nobody_and_comes_back() {
    comes_back(&start(EngineKind::Postgres));
}

#[test]
fn over_nats_a_node_that_is_cut_off_stops_nobody_and_comes_back() {
    comes_back(&start(EngineKind::Nats));
}

/// A way to be cut.
type Cut = fn(&Cluster, usize);

fn comes_back(cluster: &Cluster) {
    let cuts: [(&str, Cut); 4] = [
        ("answers-lost", Cluster::mute),
        ("requests-lost", Cluster::deafen),
        ("cut", Cluster::close),
        ("slow", |cluster, node| cluster.delay(node, Duration::from_millis(150))),
    ];
    for (number, (name, cut)) in cuts.into_iter().enumerate() {
        let node = number % 3;
        let load = Load::start(cluster, name, 4);
        load.await_more(12);
        // A node opens a Field when it is first asked for it.
        assert_eq!(speak(cluster, node, name).get("/v1/field/status").status, 200);
        cut(cluster, node);
        load.await_more(40);
        if name == "cut" {
            says_what_is_wrong(cluster, node, name);
        }
        cluster.heal(node);
        load.await_more(12);
        let written = load.end();
        println!("{name}: {:#?}", written.refusals);
        // The node that was cut off takes writes again, whatever it was told meanwhile.
        takes_writes_again(cluster, node, name);
        written.is_there(cluster, name);
    }
}

fn client(cluster: &Cluster, node: usize, field: &str) -> Option<Client> {
    Some(Client::connect(cluster.nodes[node].address()).ok()?.with_header("quipu-field", field))
}

fn says_what_is_wrong(cluster: &Cluster, node: usize, field: &str) {
    let message = Message::new("REGISTER", "w0", serde_json::json!({"id": "w0", "role": "tester"}));
    let told = client(cluster, node, field).unwrap().send(&message);
    let text = told.text();
    assert!(told.status == 503 && text.contains("FIELD_UNAVAILABLE"), "{} {text}", told.status);
    // Whoever waits behind an append that nobody answers hears of that.
    let reasons = ["the log failed: cannot", "the log has not answered"];
    assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
}

fn takes_writes_again(cluster: &Cluster, node: usize, field: &str) {
    // Nothing new: a message that the writer is known to have sent, so that the Field stays as the writers left it.
    let message = Message::new("RECORD", "w0", finding("finding 0 of writer 0"));
    let message = message.with("id", "w0-0");
    wait_until(60, "the node takes writes again", || {
        let answer = client(cluster, node, field)?.try_send(&message).ok()?;
        (answer.status == 200).then_some(())
    });
}
