//! The conformance suite against one node of three while another is killed and comes back.

use std::{
    process::Command,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use quipu_testbed::{Cluster, EngineKind};
use serde_json::Value;

use crate::support::{QUIPU, start};

const AWAY: Duration = Duration::from_secs(5);

#[test]
fn over_postgres_any_node_conforms_while_another_dies() {
    conforms(start(EngineKind::Postgres));
}

#[test]
fn over_nats_any_node_conforms_while_another_dies() {
    conforms(start(EngineKind::Nats));
}

/// Makes a key for all nodes, and gives its secret.
fn key(cluster: &Cluster, arguments: &[&str]) -> String {
    let mut command = Command::new(QUIPU);
    command.args(["key", "create", "--log", &cluster.engine.url()]).args(arguments);
    let made = command.output().unwrap();
    let said = String::from_utf8(made.stdout).unwrap();
    assert!(made.status.success(), "{said}{}", String::from_utf8_lossy(&made.stderr));
    said.lines().last().unwrap().to_owned()
}

/// Starts all nodes anew with keys: of an operator, and of one agent.
fn with_keys(cluster: &mut Cluster) -> (String, String) {
    let operator = key(cluster, &["--agent", "*", "--authority", "10"]);
    let bound = key(cluster, &["--agent", "bound", "--authority", "4"]);
    for node in &mut cluster.nodes {
        node.stop();
        node.options_mut().arguments.clear();
        node.run();
    }
    (operator, bound)
}

fn conforms(mut cluster: Cluster) {
    let (operator, bound) = with_keys(&mut cluster);
    let url = cluster.nodes[0].url();
    let (over, is_over) = mpsc::channel::<()>();
    let victim = &mut cluster.nodes[1];
    let report = thread::scope(|scope| {
        let suite = scope.spawn(move || {
            // Dropped when the suite is over, however it ends.
            let _over = over;
            run_suite(&url, &operator, &bound)
        });
        loop {
            victim.kill();
            victim.run();
            // Starting is work; the suite is to be done meanwhile.
            if is_over.recv_timeout(AWAY) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        suite.join().unwrap()
    });
    let verdicts = report["verdicts"].as_array().unwrap();
    let held = verdicts.iter().filter(|verdict| verdict["outcome"] == "passed").count();
    let others: Vec<&Value> =
        verdicts.iter().filter(|verdict| verdict["outcome"] != "passed").collect();
    assert!(others.is_empty() && held > 300, "{held} held, and not: {others:#?}");
    assert_eq!(report["level_reached"], 3);
}

fn run_suite(url: &str, operator: &str, bound: &str) -> Value {
    let bound = format!("bound:4:{bound}");
    let arguments = ["conformance", url, "--level", "3", "--json", "--key", operator];
    let mut command = Command::new(QUIPU);
    let run = command.args(arguments).args(["--bound-key", &bound]).output().unwrap();
    serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&run.stderr)))
}
