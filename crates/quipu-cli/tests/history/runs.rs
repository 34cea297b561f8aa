//! Many short runs over one cluster, each with a seed and a Field of its own.

use std::{net::SocketAddr, path::Path, time::Duration};

use quipu_history::{FaultPlan, Trial, Workload};
use quipu_testbed::{Cluster, EngineKind, Node};

use crate::{disturbing::disturb, tally::Tally};

const NODES: usize = 3;
/// How many runs there are if nobody asks for more.
const RUNS: u64 = 8;
/// After so many runs the cluster is a new one: the Fields of old runs cost time.
const RUNS_OF_CLUSTER: usize = 40;
/// Nodes may wait for half a minute before they give up an append, and machines may be busy.
const SETTLING: Duration = Duration::from_secs(90);

/// Makes the runs, and fails with all violations.
pub(crate) fn all(kind: EngineKind, base: u64, test: &str) {
    let seeds: Vec<u64> = match number("QUIPU_HISTORY_SEED") {
        // A seed of another engine is another test's.
        Some(seed) => {
            (base..base + 1_000_000).contains(&seed).then_some(seed).into_iter().collect()
        }
        None => (base..base + number("QUIPU_HISTORY_RUNS").unwrap_or(RUNS)).collect(),
    };
    let (mut tally, mut violations) = (Tally::default(), Vec::new());
    for seeds in seeds.chunks(RUNS_OF_CLUSTER) {
        let mut cluster = Cluster::start(Path::new(env!("CARGO_BIN_EXE_quipu")), kind, NODES);
        for seed in seeds {
            if let Err(failure) = one(&mut cluster, *seed, test, &mut tally) {
                eprintln!("{failure}");
                violations.push(failure);
            }
        }
    }
    println!("{kind:?}: {tally}");
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

fn one(cluster: &mut Cluster, seed: u64, test: &str, tally: &mut Tally) -> Result<(), String> {
    let plan = FaultPlan::draw(seed, NODES);
    let nodes: Vec<SocketAddr> = cluster.nodes.iter().map(Node::address).collect();
    let field = format!("h{seed}");
    let trial = Trial {
        load: Workload::new(seed, &field, &nodes),
        settling: SETTLING,
        again: format!(
            "QUIPU_HISTORY_SEED={seed} cargo nextest run -p quipu-cli --test history {test}"
        ),
    };
    let report = trial.run(|clock| disturb(cluster, &plan, &field, clock));
    println!("seed {seed}: {:?}, {:?}", report.verdict, plan.faults);
    match &report.verdict {
        Ok(verdict) => {
            tally.add(verdict, plan.faults.iter().map(|(_, _, fault)| *fault));
            Ok(())
        }
        Err(_) => {
            let said = cluster.nodes.iter().map(Node::said);
            let said: Vec<String> = said.map(|said| last_lines(&said)).collect();
            Err(format!(
                "{}faults: {:?}\nnodes said: {}",
                report.failure(),
                plan.faults,
                said.join("\n--\n")
            ))
        }
    }
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

#[expect(clippy::disallowed_methods, reason = "how many runs a test makes is not configuration")]
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}
