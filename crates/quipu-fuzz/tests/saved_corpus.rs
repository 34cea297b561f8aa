//! Each target on its saved corpus, and on a few thousand inputs that are made of it by a fixed seed. `cargo xtask fuzz`
//! goes on for as long as it is told.

#![cfg(test)]

use std::sync::atomic::AtomicBool;

use quipu_fuzz::{Corpus, Hunt, TARGETS, Target, hunt};

/// How many inputs are made for each target here.
const INPUTS: u64 = 3000;

fn holds(name: &str) {
    let target = Target::named(name).unwrap();
    let corpus = Corpus::of(name).unwrap();
    assert!(!corpus.inputs.is_empty(), "{name} has no corpus");
    let stop = AtomicBool::new(false);
    let tally = hunt(target, &corpus.inputs, &Hunt { seed: 7, inputs: INPUTS, stop: &stop });
    let tally = tally.unwrap_or_else(|crash| {
        panic!("{name}: {}: {}", crash.said, String::from_utf8_lossy(&crash.input))
    });
    assert_eq!(tally.tried, INPUTS);
    assert!(tally.outcomes > 1, "its inputs come to one thing alone: {tally:?}");
}

macro_rules! targets {
    ($($test:ident: $name:literal,)*) => {
        $(#[test]
        fn $test() {
            holds($name);
        })*

        #[test]
        fn every_target_is_tried_here() {
            let here = [$($name),*];
            assert!(TARGETS.iter().all(|target| here.contains(&target.name)));
        }
    };
}

targets! {
    json_holds: "json",
    cbor_holds: "cbor",
    envelopes_hold: "envelope",
    receipts_hold: "receipt",
    exports_hold: "export",
    snapshots_hold: "snapshot",
    states_of_snapshots_hold: "snapshot-state",
    indexes_of_snapshots_hold: "snapshot-index",
    cursors_hold: "cursor",
    frames_of_modules_hold: "module-frame",
}

#[test]
fn a_target_that_panics_is_a_crash_with_its_input() {
    fn read(bytes: &[u8]) -> String {
        assert!(!bytes.contains(&b'!'), "an exclamation");
        String::new()
    }
    let target = Target { name: "shouts", read, words: &["!"] };
    let stop = AtomicBool::new(false);
    let hunted = hunt(&target, &[b"calm".to_vec()], &Hunt { seed: 1, inputs: 10_000, stop: &stop });
    let crash = hunted.unwrap_err();
    assert!(crash.input.contains(&b'!') && crash.said.contains("exclamation"), "{crash:?}");
}
