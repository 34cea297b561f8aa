//! What is particular to streams: large batches, erased messages, messages that somebody deletes.

use std::{
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use quipu_engines::NatsEngine;
use quipu_log::{
    BodyAddress, Engine, EngineError, FieldName, Head,
    conformance::{Chain, field},
    verify_chain,
};

use quipu_testbed::{NatsServers, is_in_files};

#[test]
fn a_batch_of_more_messages_than_a_server_takes_at_once_is_still_one() {
    let servers = NatsServers::one();
    let (one, other) =
        (NatsEngine::open(&servers.url()).unwrap(), NatsEngine::open(&servers.url()).unwrap());
    let (name, mut chain) = (field("f"), Chain::new(1));
    let batch = chain.take(1700);
    assert_eq!(one.append(&name, &Head::EMPTY, &batch).unwrap(), chain.head());
    assert_eq!(other.read(&name, 1, usize::MAX).unwrap(), batch);
    for from in [1, 2, 850, 1699, 1700] {
        let page = other.read(&name, from, 1).unwrap();
        assert_eq!(page.first().map(|commit| commit.position), Some(from));
    }
}

#[test]
fn a_fresh_engine_finds_any_position_among_many_groups() {
    let servers = NatsServers::one();
    let engine = NatsEngine::open(&servers.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    for size in (1..=5).cycle().take(40) {
        engine.append(&name, &chain.head(), &chain.clone().take(size)).unwrap();
        chain.take(size);
    }
    let fresh = NatsEngine::open(&servers.url()).unwrap();
    for from in [120, 1, 61, 60, 119, 2, 33] {
        let page = fresh.read(&name, from, 2).unwrap();
        let expected: Vec<u64> = (from..=120).take(2).collect();
        let found: Vec<u64> = page.iter().map(|commit| commit.position).collect();
        assert_eq!(found, expected, "from {from}");
    }
}

#[test]
fn an_erased_text_is_in_no_file_of_the_server() {
    let servers = NatsServers::one();
    let engine = NatsEngine::open(&servers.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    let batch = [chain.next_with("the-secret-of-7f3a"), chain.next_with("kept")];
    engine.append(&name, &Head::EMPTY, &batch).unwrap();
    assert!(!is_in_files(servers.files(), "the-secret-of-7f3a").is_empty());
    engine.erase(&name, &[BodyAddress { position: 1, event: 0 }]).unwrap();
    let left = is_in_files(servers.files(), "the-secret-of-7f3a");
    assert!(left.is_empty(), "{left:?}");
    assert!(!is_in_files(servers.files(), "kept").is_empty());
}

#[test]
fn what_two_nodes_erase_at_the_same_time_is_erased_once() {
    const BODIES: u64 = 30;
    let servers = NatsServers::three();
    let engines = [(); 2].map(|()| NatsEngine::open(&servers.url()).unwrap());
    let (name, mut chain) = (field("f"), Chain::new(1));
    engines[0].append(&name, &Head::EMPTY, &chain.take(30)).unwrap();
    let all: Vec<_> = (1..=BODIES).map(|position| BodyAddress { position, event: 0 }).collect();
    let erased = thread::scope(|scope| {
        let erasing = engines.each_ref().map(|engine| scope.spawn(|| engine.erase(&name, &all)));
        erasing.map(|erased| erased.join().unwrap().unwrap().bodies_erased)
    });
    assert_eq!(erased.iter().sum::<u64>(), BODIES, "{erased:?}");
}

#[test]
fn the_first_append_to_a_new_field_is_taken_whatever_server_it_comes_through() {
    let servers = NatsServers::three();
    let engines = [(); 3].map(|()| NatsEngine::open(&servers.url()).unwrap());
    for number in 0..30 {
        // A stream is made, and not every server knows yet where it is.
        let (name, mut chain) = (field(&format!("f{number}")), Chain::new(1));
        let engine = &engines[number % engines.len()];
        assert_eq!(engine.append(&name, &Head::EMPTY, &chain.take(2)).unwrap(), chain.head());
    }
}

#[test]
fn a_group_that_somebody_deleted_is_damage() {
    let servers = NatsServers::one();
    let engine = NatsEngine::open(&servers.url()).unwrap();
    let (name, mut chain) = (field("f"), Chain::new(1));
    for _ in 0..3 {
        engine.append(&name, &chain.head(), &chain.clone().take(1)).unwrap();
        chain.take(1);
    }
    // One body and one group for each append: the second group is the fourth message.
    let deleted = Command::new("python3")
        .args(["-c", DELETE, &servers.port(0).to_string()])
        .status()
        .expect("python3 runs");
    assert!(deleted.success());
    let fresh = NatsEngine::open(&servers.url()).unwrap();
    let error = verify_chain(&fresh, &name, Head::EMPTY, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, EngineError::Damaged(_)), "{error}");
}

/// The protocol is plain text: connect, ask, wait for the answer.
const DELETE: &str = r#"
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
f = s.makefile("rwb")
body = b'{"seq": 4}'
f.write(b'CONNECT {"verbose":false}\r\nSUB r 1\r\nPUB $JS.API.STREAM.MSG.DELETE.QUIPU_f r %d\r\n%s\r\n' % (len(body), body))
f.flush()
while True:
    line = f.readline()
    if line.startswith(b"MSG r"):
        answer = f.readline()
        sys.exit(0 if b'"success":true' in answer else 1)
"#;

#[test]
fn nodes_that_take_turns_append_one_after_the_other() {
    const NODES: u64 = 3;
    const ROUNDS: u64 = 12;
    let servers = NatsServers::one();
    let engines: Vec<NatsEngine> =
        (0..NODES).map(|_| NatsEngine::open(&servers.url()).unwrap()).collect();
    let name = field("f");
    let first = engines[0].append(&name, &Head::EMPTY, &Chain::new(1).take(1)).unwrap();
    let refused: u64 = thread::scope(|scope| {
        let nodes: Vec<_> = engines
            .iter()
            .zip(0..)
            .map(|(engine, seed)| {
                let name = &name;
                scope.spawn(move || {
                    (0..ROUNDS).fold((first, 0), |(head, refused), _| {
                        let (head, more) = append_in_turn(engine, name, head, seed);
                        (head, refused + more)
                    })
                })
            })
            .collect();
        nodes.into_iter().map(|node| node.join().unwrap().1).sum()
    });
    for engine in &engines {
        let head = verify_chain(engine, &name, Head::EMPTY, &mut |_| Ok(())).unwrap();
        assert_eq!(head.position, 1 + NODES * ROUNDS * 2);
    }
    // Without turns two of three are refused each time.
    assert!(refused < NODES * ROUNDS, "{refused} appends were refused");
}

/// Appends once, and answers the head and how often another was faster.
fn append_in_turn(engine: &NatsEngine, name: &FieldName, known: Head, seed: u8) -> (Head, u64) {
    let (mut head, mut refused) = (known, 0);
    loop {
        if engine.take_turn(name, &head).unwrap().is_some() {
            head = verify_chain(engine, name, head, &mut |_| Ok(())).unwrap();
        }
        match engine.append(name, &head, &Chain::from(head, seed).take(2)) {
            Ok(end) => return (end, refused),
            Err(EngineError::HeadMoved { .. }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_node_that_takes_no_turns_does_not_starve_those_who_do() {
    const ROUNDS: u64 = 20;
    let servers = NatsServers::one();
    let [hurried, patient] = [(); 2].map(|()| NatsEngine::open(&servers.url()).unwrap());
    let name = field("f");
    let first = hurried.append(&name, &Head::EMPTY, &Chain::new(1).take(1)).unwrap();
    patient.head(&name).unwrap();
    let done = AtomicBool::new(false);
    let refused = thread::scope(|scope| {
        scope.spawn(|| {
            let mut head = first;
            while !done.load(Ordering::Relaxed) {
                head = match hurried.append(&name, &head, &Chain::from(head, 2).take(1)) {
                    Ok(end) => end,
                    Err(EngineError::HeadMoved { actual }) => actual,
                    Err(other) => panic!("{other}"),
                };
            }
        });
        let mut head = first;
        let refused = (0..ROUNDS).map(|_| {
            let (end, refused) = append_in_turn(&patient, &name, head, 3);
            head = end;
            refused
        });
        let refused: u64 = refused.sum();
        done.store(true, Ordering::Relaxed);
        refused
    });
    // What was on its way when it asked may come first.
    assert!(refused < ROUNDS / 2, "{refused} appends were refused");
}

#[test]
fn a_node_that_is_gone_with_the_turn_is_passed_over() {
    let servers = NatsServers::one();
    let [gone, other] = [(); 2].map(|()| NatsEngine::open(&servers.url()).unwrap());
    let name = field("f");
    let head = gone.append(&name, &Head::EMPTY, &Chain::new(1).take(1)).unwrap();
    other.head(&name).unwrap();
    assert_eq!(gone.take_turn(&name, &head).unwrap().expect("it is free"), head);
    drop(gone);
    assert_eq!(other.take_turn(&name, &Head::EMPTY).unwrap().expect("after a while"), head);
    other.append(&name, &head, &Chain::from(head, 2).take(1)).expect("nobody else wants to");
}
