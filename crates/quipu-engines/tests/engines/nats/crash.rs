//! A server is killed, or the way to it is cut, in the middle of things.

use std::time::Duration;

use quipu_engines::NatsEngine;
use quipu_log::{
    Engine, EngineError, FieldName, Head,
    conformance::{Chain, field},
    verify_chain,
};

use quipu_testbed::{NatsServers, Proxy};

/// Long enough that a batch which fits is carried out; if it is not, the cut comes earlier, that is all.
const SHORT: Duration = Duration::from_millis(300);
/// Tries for what heals by itself once servers have found each other again.
const TRIES: usize = 60;

/// Appends until it is taken; anything but a server that is away is a failure.
fn append_when_it_is_back(engine: &NatsEngine, name: &FieldName, head: &Head, seed: u8) -> Head {
    let batch = Chain::from(*head, seed).take(2);
    let end = batch.last().unwrap().head();
    for _ in 0..TRIES {
        match engine.append(name, head, &batch) {
            Ok(moved) => return moved,
            Err(EngineError::Unavailable { .. } | EngineError::Io { .. }) => {
                // After an outcome that stayed unknown the log itself says what became of it.
                if engine.head(name).is_ok_and(|now| now == end) {
                    return end;
                }
            }
            Err(EngineError::HeadMoved { actual }) if actual == end => return end,
            Err(other) => panic!("{other}"),
        }
    }
    panic!("the servers did not come back");
}

#[test]
fn what_was_acknowledged_survives_kill_9_of_the_server() {
    let mut servers = NatsServers::one();
    let engine = NatsEngine::open(&servers.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    for _ in 0..20 {
        engine.append(&name, &chain.head(), &chain.clone().take(2)).unwrap();
        chain.take(2);
    }
    servers.kill(0);
    servers.run(0);
    let head = append_when_it_is_back(&engine, &name, &chain.head(), 1);
    let again = NatsEngine::open(&servers.url()).unwrap();
    assert_eq!(verify_chain(&again, &name, Head::EMPTY, &mut |_| Ok(())).unwrap(), head);
    assert_eq!(head.position, 42);
}

#[test]
fn three_servers_lose_nothing_when_any_of_them_is_killed() {
    let mut servers = NatsServers::three();
    let engine = NatsEngine::open(&servers.url()).unwrap();
    let (name, mut head) = (field("f"), Head::EMPTY);
    let mut seed = 0;
    for victim in 0..3 {
        for _ in 0..4 {
            head = append_when_it_is_back(&engine, &name, &head, seed);
            seed += 1;
        }
        servers.kill(victim);
        for _ in 0..2 {
            head = append_when_it_is_back(&engine, &name, &head, seed);
            seed += 1;
        }
        servers.run(victim);
    }
    let end = verify_chain(&engine, &name, Head::EMPTY, &mut |_| Ok(())).unwrap();
    assert_eq!(end, head);
    assert_eq!(end.position, 36);
}

#[test]
fn what_is_asked_while_the_servers_choose_a_leader_is_answered() {
    let mut servers = NatsServers::three();
    let (name, mut chain) = (field("f"), Chain::new(1));
    let before = NatsEngine::open(&servers.url()).unwrap();
    before.append(&name, &Head::EMPTY, &chain.take(3)).unwrap();
    drop(before);
    (0..3).for_each(|at| servers.kill(at));
    (0..3).for_each(|at| servers.run(at));
    let engine = NatsEngine::open(&servers.url()).unwrap();
    assert_eq!(engine.head(&name).unwrap(), chain.head());
    assert_eq!(engine.fields().unwrap(), std::slice::from_ref(&name));
    assert_eq!(verify_chain(&engine, &name, Head::EMPTY, &mut |_| Ok(())).unwrap(), chain.head());
}

#[test]
fn an_append_that_is_cut_anywhere_happened_or_never_will() {
    let servers = NatsServers::one();
    let proxy = Proxy::to(servers.port(0));
    let engine = NatsEngine::open(&servers.url_through(&[proxy.port()])).unwrap();
    let direct = NatsEngine::open(&servers.url()).unwrap();
    let (name, mut head) = (field("f"), Head::EMPTY);
    head = append_when_it_is_back(&engine, &name, &head, 9);
    let mut outcomes = [0, 0];
    for (round, bytes) in (0..).step_by(601).take(5).enumerate() {
        let batch = Chain::from(head, u8::try_from(round).unwrap()).take(2);
        let end = batch.last().unwrap().head();
        proxy.mute_and_cut_after(bytes);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                proxy.wait_for_cut_within(SHORT);
                proxy.heal();
            });
            engine.append(&name, &head, &batch)
        });
        match outcome {
            Ok(moved) => {
                assert_eq!(moved, end);
                head = end;
                outcomes[0] += 1;
            }
            Err(EngineError::Unavailable { .. }) => outcomes[1] += 1,
            Err(other) => panic!("cut after {bytes} bytes: {other}"),
        }
        assert_eq!(direct.head(&name).unwrap(), head, "cut after {bytes} bytes");
        head = append_when_it_is_back(&engine, &name, &head, 100);
    }
    assert!(outcomes[1] > 0, "committed, not committed: {outcomes:?}");
    assert_eq!(verify_chain(&direct, &name, Head::EMPTY, &mut |_| Ok(())).unwrap(), head);
}
