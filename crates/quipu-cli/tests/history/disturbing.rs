//! Brings about the faults of a run, one after the other, and leaves everything whole.

use std::time::Duration;

use quipu_history::{Clock, Fault, FaultPlan};
use quipu_testbed::Cluster;

/// By how much bytes come late.
const LATE: Duration = Duration::from_millis(40);
/// How often a node is started at most: it may refuse as long as a server of the log is not back.
const STARTS_MAX: usize = 60;

/// Follows a plan.
pub(crate) fn disturb(cluster: &mut Cluster, plan: &FaultPlan, field: &str, clock: &Clock) {
    for (begins, length, fault) in &plan.faults {
        clock.wait_until(*begins);
        let ends = *begins + *length;
        match *fault {
            Fault::KillNode(node) => {
                cluster.nodes[node].kill();
                clock.wait_until(ends);
                start(cluster, node);
            }
            Fault::KillEngine => {
                let server = cluster.engine.leader(field).unwrap_or_default();
                cluster.engine.kill(server);
                clock.wait_until(ends);
                cluster.engine.run(server);
            }
            Fault::Cut(node) => {
                cluster.close(node);
                clock.wait_until(ends);
                cluster.heal(node);
            }
            Fault::Deafen(node) => {
                cluster.deafen(node);
                clock.wait_until(ends);
                cluster.heal(node);
            }
            Fault::Mute(node) => {
                cluster.mute(node);
                clock.wait_until(ends);
                cluster.heal(node);
            }
            Fault::Delay(node) => {
                cluster.delay(node, LATE);
                clock.wait_until(ends);
                cluster.delay(node, Duration::ZERO);
            }
        }
    }
}

fn start(cluster: &mut Cluster, node: usize) {
    let mut said = String::new();
    for _ in 0..STARTS_MAX {
        match cluster.nodes[node].try_run() {
            Ok(()) => return,
            Err(ended) => said = ended.said,
        }
        Clock::start().wait_until(Duration::from_millis(250));
    }
    panic!("a node does not come back:\n{said}");
}
