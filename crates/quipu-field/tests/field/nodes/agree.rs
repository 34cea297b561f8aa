//! Random commands on random nodes with random faults: all nodes end with the same log, state and answers, whatever
//! was acknowledged is in the log once, and a message that is sent again, also to another node, is carried out once.

use std::{collections::BTreeMap, sync::Arc};

use quipu_field::Field;
use quipu_log::{Engine, FieldName, Head, verify_chain};
use quipu_wire::{
    ErrorCode,
    akashik::{AttunePayload, UnitView},
};
use serde_json::json;

use super::cluster::{Cluster, Dice, open};
use crate::support::{message, record, register};

const CLIENTS: u64 = 4;
const MESSAGES: u64 = 12;

/// What a client was told: the unit of each message.
type Told = BTreeMap<String, String>;

/// Sends a message until it is answered for good, to any node each time, and now and then to two at once.
async fn insist(nodes: &[Arc<Field>], dice: &Dice, id: &str, agent: &str, seed: u64) -> String {
    let text = format!("what {id} has to say about ships");
    for _ in 0..200 {
        let any = || &nodes[usize::try_from(dice.throw(3)).unwrap()];
        let send = |to: &Arc<Field>| {
            let (to, text, from) = (Arc::clone(to), text.clone(), message(id, agent));
            tokio::spawn(async move { record(&to, from, &text, json!([])).await })
        };
        let sent =
            if dice.throw(4) == 0 { vec![send(any()), send(any())] } else { vec![send(any())] };
        let mut told = Vec::new();
        for one in sent {
            match one.await.unwrap() {
                Ok(accepted) => told.push(accepted.memory_unit_id),
                Err(error) => assert!(
                    matches!(error.code(), ErrorCode::FieldUnavailable | ErrorCode::Overloaded),
                    "seed {seed}: {error}"
                ),
            }
        }
        told.dedup();
        assert!(told.len() < 2, "seed {seed}: {id} is {told:?}");
        if let Some(unit) = told.pop() {
            return unit;
        }
    }
    panic!("seed {seed}: {id} was never taken")
}

async fn run(seed: u64, with_turns: bool) {
    let cluster = Arc::new(Cluster::of(3, seed, with_turns));
    for agent in ["a", "b", "c", "d"] {
        register(&cluster.nodes[0], agent).await.unwrap();
    }
    cluster.settle().await;
    cluster.fail(true);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let cluster = Arc::clone(&cluster);
            tokio::spawn(async move {
                let dice = Dice::new(seed * 1000 + client);
                let agent = ["a", "b", "c", "d"][usize::try_from(client).unwrap()];
                let mut told = Told::new();
                for number in 0..MESSAGES {
                    let id = format!("{agent}-{number}");
                    let unit = insist(&cluster.nodes, &dice, &id, agent, seed).await;
                    told.insert(id, unit);
                }
                told
            })
        })
        .collect();
    let mut told = Told::new();
    for client in clients {
        told.extend(client.await.unwrap());
    }
    cluster.fail(false);
    check(&cluster, &told, seed).await;
}

async fn check(cluster: &Cluster, told: &Told, seed: u64) {
    let head = cluster.settle().await;
    let (mut logged, mut time_ms) = (Told::new(), 0);
    verify_chain(cluster.log.as_ref(), &FieldName::default_field(), Head::EMPTY, &mut |commit| {
        let header = commit.decode_header::<serde_json::Value>()?;
        assert!(header.time_ms >= time_ms, "seed {seed}: time went back at {}", header.position);
        time_ms = header.time_ms;
        let units = header.events.iter().filter_map(|sealed| sealed.event["unit"].as_str());
        for unit in units {
            let again = logged.insert(header.request.clone().unwrap(), unit.to_owned());
            assert_eq!(again, None, "seed {seed}: carried out twice");
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(&logged, told, "seed {seed}: the log holds what was acknowledged, once");
    let engine: Arc<dyn Engine> = Arc::<quipu_log::MemoryEngine>::clone(&cluster.log);
    let fresh = open(engine, Arc::new(quipu_field::SystemOrigin));
    let state = fresh.state_hash();
    let answer = answers(&fresh).await;
    assert_eq!(answer.len(), told.len());
    for node in &cluster.nodes {
        assert_eq!(node.health().failure(), None, "seed {seed}");
        assert_eq!((node.head(), node.state_hash()), (head, state), "seed {seed}");
        assert_eq!(answers(node).await, answer, "seed {seed}");
    }
}

/// What a question is answered with, in order.
async fn answers(field: &Arc<Field>) -> Vec<String> {
    let scope = json!({"role": "sailor", "max_units": 1000, "include_own": true});
    let asked = json!({"scope": scope, "context_hint": "ships", "format": "ids_only"});
    let (payload, _) = AttunePayload::parse(asked).unwrap();
    let answer = field.attune(message("look", "a"), payload).await.unwrap();
    let id = |view: &UnitView| view.id().to_owned();
    answer.record.iter().map(|unit| id(&unit.memory_unit)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_race_agree_on_everything_whatever_fails() {
    for seed in 1..=24 {
        run(seed, false).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_take_turns_agree_on_everything_whatever_fails() {
    for seed in 101..=124 {
        run(seed, true).await;
    }
}
