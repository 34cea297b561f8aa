//! The log is not any more what a node knows: an older backup, a commit that was rewritten or deleted. The node says so,
//! takes no more writes, and applies nothing of it.

use std::process::Command;

use quipu_testbed::{Answer, Client, Cluster, EngineKind, EngineServers, Message, wait_until};
use serde_json::Value;

use crate::support::{agree, finding, record, register, settle, speak, start, units, verify};

#[test]
fn over_postgres_a_log_that_is_not_the_one_that_was_known_is_refused() {
    is_refused(&mut start(EngineKind::Postgres));
}

#[test]
fn over_nats_a_log_that_is_not_the_one_that_was_known_is_refused() {
    is_refused(&mut start(EngineKind::Nats));
}

fn is_refused(cluster: &mut Cluster) {
    a_commit_that_was_rewritten_is_not_applied(cluster);
    an_older_backup_is_noticed(cluster);
}

fn try_record(cluster: &Cluster, node: usize, field: &str) -> Option<Answer> {
    let client = Client::connect(cluster.nodes[node].address()).ok()?;
    let message = Message::new("RECORD", "a", finding("more"));
    client.with_header("quipu-field", field).try_send(&message).ok()
}

/// Why a node does not take writes in a Field, as `/readyz` says.
fn reason(cluster: &Cluster, node: usize, field: &str) -> Option<String> {
    let answer = speak(cluster, node, field).get("/readyz");
    let fields = answer.json()["fields"].as_array().unwrap().clone();
    let of_field = fields.iter().find(|each| each["name"] == field)?;
    let reason = of_field["reason"].as_str()?.to_owned();
    assert_eq!(answer.status, 503, "{}", answer.text());
    Some(reason)
}

#[track_caller]
fn distrusts(cluster: &Cluster, node: usize, field: &str) -> String {
    let reason = wait_until(60, "the node says why", || reason(cluster, node, field));
    assert!(reason.contains("the log is not the one that this node knows"), "{reason}");
    let refused = try_record(cluster, node, field).unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.text().contains("not the one that this node knows"), "{}", refused.text());
    reason
}

fn a_commit_that_was_rewritten_is_not_applied(cluster: &mut Cluster) {
    let field = "rewritten";
    register(cluster, 0, field, "a");
    for number in 0..4 {
        record(cluster, 1, field, &format!("fact {number}"));
    }
    settle(cluster, field);
    let known = units(cluster, 0, field);
    cluster.close(0);
    let last = (0..3).map(|number| record(cluster, 1, field, &format!("later {number}")).1).max();
    let bad = damage(&cluster.engine, field, last.unwrap() - 1);
    cluster.heal(0);
    let told = distrusts(cluster, 0, field);
    assert!(told.contains(&format!("position {bad}")), "{told}");
    assert_eq!(units(cluster, 0, field), known, "reads go on, with what it knew");
    let found = verify(cluster, field);
    assert_eq!((&found["ok"], &found["first_bad_position"]), (&false.into(), &bad.into()));
    // A node that starts now does not open it, and says where it is wrong; its other Fields are there.
    cluster.restart(2);
    let refused = try_record(cluster, 2, field).unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text());
    let told = reason(cluster, 2, field).unwrap_or_default();
    assert!(told.contains(&format!("position {bad}")), "{told}");
    register(cluster, 2, "another", "a");
    record(cluster, 2, "another", "all is well here");
}

/// Rewrites the header of a commit, or deletes it where it cannot be rewritten; gives the position that is wrong then.
fn damage(engine: &EngineServers, field: &str, position: u64) -> u64 {
    match engine {
        EngineServers::Postgres(server) => {
            server.sql(&format!(
                "UPDATE quipu.commits SET header = convert_to(replace(convert_from(header, 'UTF8'), '\"a\"', '\"b\"'), 'UTF8') \
                 WHERE field = '{field}' AND position = {position}"
            ));
            position
        }
        EngineServers::Nats(servers) => {
            // Each commit of one event with a text is two messages; REGISTER has no text.
            let sequence = position * 2 - 1;
            let done = Command::new("python3")
                .args(["-c", DELETE, &servers.port(0).to_string(), field, &sequence.to_string()])
                .status();
            assert!(done.unwrap().success());
            // The one behind it is found where it does not belong.
            position + 1
        }
    }
}

/// The protocol is plain text: connect, ask, wait for the answer.
const DELETE: &str = r#"
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
f = s.makefile("rwb")
body = b'{"seq": %d}' % int(sys.argv[3])
f.write(b'CONNECT {"verbose":false}\r\nSUB r 1\r\nPUB $JS.API.STREAM.MSG.DELETE.QUIPU_%s r %d\r\n%s\r\n' % (sys.argv[2].encode(), len(body), body))
f.flush()
while True:
    line = f.readline()
    if line.startswith(b"MSG r"):
        answer = f.readline()
        sys.exit(0 if b'"success":true' in answer else 1)
"#;

fn an_older_backup_is_noticed(cluster: &mut Cluster) {
    let field = "restored";
    register(cluster, 0, field, "a");
    for number in 0..3 {
        record(cluster, number, field, &format!("saved {number}"));
    }
    let saved = settle(cluster, field);
    let backup = cluster.engine.save();
    wait_until(60, "writes are taken again", || {
        try_record(cluster, 0, field).filter(|answer| answer.status == 200)
    });
    record_when_possible(cluster, 1, field);
    record_when_possible(cluster, 2, field);
    let lost = settle(cluster, field);
    assert!(lost.0 > saved.0);
    cluster.engine.restore(&backup);
    for node in 0..3 {
        let reason = distrusts(cluster, node, field);
        assert!(reason.contains(&lost.0.to_string()), "{reason}");
    }
    let found = verify(cluster, field);
    assert_eq!((&found["ok"], &found["head"]), (&true.into(), &Value::from(saved.1.clone())));
    // Who decides that the older log is the log now starts the nodes again.
    for node in 0..3 {
        cluster.restart(node);
    }
    record_when_possible(cluster, 0, field);
    agree(cluster, field);
}

fn record_when_possible(cluster: &Cluster, node: usize, field: &str) {
    wait_until(60, "a write is taken", || {
        try_record(cluster, node, field).filter(|answer| answer.status == 200)
    });
}
