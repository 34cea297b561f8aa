//! The store of keys where several nodes share a log: one truth beside it, which every node comes to know.

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use quipu_log::{Engine, MemoryEngine};
use quipu_server::{
    KeyStore,
    secrets::keys::{KeyAgent, NewKey},
};
use tempfile::TempDir;

use crate::support::wait_until;

fn key(agent: &str, authority: u8) -> NewKey {
    NewKey {
        agent: agent.to_owned().into(),
        authority,
        field: None,
        label: None,
        roles: Vec::new(),
    }
}

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::shared())
}

/// A node's view of the keys; its directory is empty.
fn node(engine: &Arc<dyn Engine>) -> KeyStore {
    let directory = TempDir::new().unwrap();
    KeyStore::beside(Arc::clone(engine), directory.path()).unwrap()
}

#[test]
fn what_one_node_makes_and_revokes_the_others_know() {
    let engine = engine();
    let (one, other) = (node(&engine), node(&engine));
    let issued = one.create(key("ada", 4)).unwrap();
    assert!(one.authenticate(&issued.secret).is_some(), "whoever made it knows at once");
    wait_until("the other node knows", || other.authenticate(&issued.secret).is_some());
    let credential = other.authenticate(&issued.secret).unwrap();
    assert_eq!(credential.agent, KeyAgent::Named("ada".to_owned()));
    assert!(other.revoke(&issued.info.id).unwrap());
    assert!(!one.revoke(&issued.info.id).unwrap(), "it is revoked already");
    wait_until("the first node knows", || one.authenticate(&issued.secret).is_none());
    assert_eq!(one.list().unwrap(), other.list().unwrap());
}

#[test]
fn nodes_that_start_together_make_one_first_key() {
    let (engine, start) = (engine(), Barrier::new(8));
    let made: Vec<_> = std::thread::scope(|scope| {
        let begin = || {
            let store = node(&engine);
            start.wait();
            store.create_first(key("*", 10)).unwrap()
        };
        let nodes: Vec<_> = (0..8).map(|_| scope.spawn(begin)).collect();
        nodes.into_iter().filter_map(|node| node.join().unwrap()).collect()
    });
    assert_eq!(made.len(), 1);
    assert_eq!(node(&engine).list().unwrap(), [made[0].info.clone()]);
}

#[test]
fn keys_made_by_many_nodes_at_one_time_are_all_kept() {
    let (engine, start) = (engine(), Barrier::new(4));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let store = node(&engine);
                start.wait();
                for _ in 0..4 {
                    store.create(key("*", 2)).unwrap();
                }
            });
        }
    });
    assert_eq!(node(&engine).list().unwrap().len(), 16);
}

#[test]
fn the_keys_of_the_first_directory_are_taken_over_and_those_of_later_ones_are_not() {
    let (engine, first, second) = (engine(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let own = KeyStore::open(first.path()).unwrap().create(key("*", 10)).unwrap();
    let others = KeyStore::open(second.path()).unwrap().create(key("*", 10)).unwrap();
    for directory in [&first, &second, &first] {
        let store = KeyStore::beside(Arc::clone(&engine), directory.path()).unwrap();
        store.take_over().unwrap();
        assert!(store.authenticate(&own.secret).is_some());
        assert_eq!(store.authenticate(&others.secret), None);
    }
    assert!(!first.path().join("keys.json").exists());
    assert!(second.path().join("keys.json").exists(), "it may be needed elsewhere");
}

#[test]
fn keys_that_go_along_with_a_log_stay_revoked() {
    let (from, to) = (engine(), engine());
    let (source, target) = (node(&from), node(&to));
    let kept = source.create(key("ada", 4)).unwrap();
    let revoked = source.create(key("bob", 4)).unwrap();
    target.create(key("*", 10)).unwrap();
    assert!(target.add_all(&source).unwrap());
    source.revoke(&revoked.info.id).unwrap();
    assert!(target.add_all(&source).unwrap() && !target.add_all(&source).unwrap());
    assert!(target.authenticate(&kept.secret).is_some());
    assert_eq!(target.authenticate(&revoked.secret), None);
    assert_eq!(target.list().unwrap().len(), 3);
}

#[test]
fn keys_that_could_not_be_read_for_too_long_are_not_believed() {
    let engine = engine();
    let issued = node(&engine).create(key("*", 10)).unwrap();
    let store = node(&engine);
    assert!(store.is_fresh() && store.authenticate(&issued.secret).is_some());
    let store = node(&engine).believing_for(Duration::ZERO);
    assert!(!store.is_fresh());
    assert_eq!(store.authenticate(&issued.secret), None);
}
