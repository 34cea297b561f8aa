//! Both sides over pipes in one process: whatever a module does here it does there, byte by byte.

use std::io::{self, Read, Write};

use quipu_wire::harn::DependencyKind;
use serde_json::json;

use super::{Lost, Remote, serve};
use crate::module::{
    Answer, ModuleRun, Policy, Request, SnapshotError, SnapshotKey, resume, run,
    tests::modules::{ASKS, Table, compiled, input, policy},
};

/// Has the module run by the other side.
fn elsewhere<T>(
    source: &str,
    work: impl FnOnce(&mut Remote<io::PipeReader, io::PipeWriter>) -> T,
) -> T {
    let (from_server, to_module) = io::pipe().unwrap();
    let (from_module, to_server) = io::pipe().unwrap();
    std::thread::scope(|scope| {
        let serving = scope.spawn(move || serve(from_server, to_server));
        let mut remote = Remote::compile(from_module, to_module, source, "entry").unwrap().unwrap();
        let done = work(&mut remote);
        drop(remote);
        serving.join().unwrap().unwrap();
        done
    })
}

#[test]
fn a_module_does_the_same_in_the_other_process_as_here() {
    let here = run(&compiled(ASKS), &policy(), &input(), &mut Table::complete());
    let there = elsewhere(ASKS, |it| it.run(&policy(), &input(), &mut Table::complete()).unwrap());
    assert_eq!(there, here);
    assert!(matches!(here, ModuleRun::Completed { .. }), "{here:?}");
}

#[test]
fn a_run_that_waits_leaves_the_same_snapshot_and_goes_on_from_it_on_either_side() {
    let here = run(&compiled(ASKS), &policy(), &input(), &mut Table::default());
    let there = elsewhere(ASKS, |it| it.run(&policy(), &input(), &mut Table::default()).unwrap());
    assert_eq!(there, here);
    let ModuleRun::Suspended { snapshot, .. } = there else { panic!("{there:?}") };
    let here = resume(&compiled(ASKS), &policy(), &snapshot, &mut Table::complete()).unwrap();
    let resumed = |bytes: &[u8]| {
        elsewhere(ASKS, |it| it.resume(&policy(), bytes, &mut Table::complete()).unwrap())
    };
    assert_eq!(resumed(&snapshot).unwrap(), here);
    let other_key = Policy::new(policy().names(), SnapshotKey([1; 32])).unwrap();
    let refused = elsewhere(ASKS, |it| {
        it.resume(&other_key, &snapshot, &mut Table::complete()).unwrap().unwrap_err()
    });
    assert_eq!(refused, SnapshotError::NotAuthentic, "the other process never has the key");
}

#[test]
fn what_does_not_compile_is_refused_in_the_same_words() {
    let (from_server, to_module) = io::pipe().unwrap();
    let (from_module, to_server) = io::pipe().unwrap();
    let serving = std::thread::spawn(move || serve(from_server, to_server));
    let refused = Remote::compile(from_module, to_module, "pub fn entry(", "entry").unwrap();
    let here = crate::module::Module::compile("pub fn entry(", "entry").unwrap_err();
    assert_eq!(refused.unwrap_err(), here);
    serving.join().unwrap().unwrap();
}

/// A process that says this, whatever it is told.
fn liar(replies: &[serde_json::Value]) -> Lost {
    let mut said = Vec::new();
    for reply in std::iter::once(&json!("compiled")).chain(replies) {
        let bytes = serde_json::to_vec(reply).unwrap();
        said.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        said.extend(bytes);
    }
    let mut remote = Remote::compile(said.as_slice(), io::sink(), ASKS, "entry").unwrap().unwrap();
    let mut told = |_: &Request| Answer::Value(json!("the secret"));
    remote.run(&policy(), &input(), &mut told).unwrap_err()
}

#[test]
fn a_process_that_asks_for_what_was_not_granted_is_told_nothing() {
    let asks = |capability: &str, key: &str, kind: DependencyKind| {
        json!({"asks": {"key": key, "kind": kind, "sha256": format!("sha256:{}", "0".repeat(64)),
            "capability": capability, "arguments": {"canonical": "[]"}, "holds_secret": false}})
    };
    let fact = DependencyKind::HostFact;
    for lie in [
        asks("process.exec", "host:process.exec:1", fact),
        asks("clock.now_ms", "secret:token", DependencyKind::SecretValue),
        asks("clock.now_ms", "secret:token", DependencyKind::Time),
        json!("compiled"),
        json!({"suspended": 1}),
    ] {
        let lost = liar(std::slice::from_ref(&lie));
        assert!(matches!(lost, Lost::Nonsense), "{lie}: {lost:?}");
    }
}

#[test]
fn a_frame_that_is_too_long_or_cut_is_refused_before_it_is_kept() {
    let cut = |bytes: &[u8]| Remote::compile(bytes, io::sink(), ASKS, "entry").map(|_| ());
    assert!(matches!(cut(b"\xff\xff\xff\xff{}"), Err(Lost::Nonsense)));
    assert!(matches!(cut(b"\x09\0\0\0\"compi"), Err(Lost::Gone(_))));
    assert!(matches!(cut(b""), Err(Lost::Gone(_))));
    assert!(serve(&b"\x02\0\0\0{}"[..], io::sink()).is_err());
    let mut nothing: Box<dyn Read> = Box::new(io::empty());
    let mut to: Box<dyn Write> = Box::new(io::sink());
    serve(&mut nothing, &mut to).unwrap();
}
