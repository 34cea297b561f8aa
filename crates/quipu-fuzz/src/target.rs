//! The list of targets.

use crate::targets;

/// A parser, and what must hold for whatever it is given.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name, also of its folder in the corpus.
    pub name: &'static str,
    /// Reads bytes. Says in a few words what came of it: inputs that come to something new are kept for more.
    /// Panics where something does not hold.
    pub read: fn(&[u8]) -> String,
    /// Words that mean something to it.
    pub words: &'static [&'static str],
}

const JSON_WORDS: &[&str] = &[
    "null",
    "true",
    "{}",
    "[]",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "1e400",
    "-0",
    "9007199254740993",
    "1e-7",
    "0.1",
    "\"a\":",
    ",",
    "[[[[[[[[",
    "{\"\":{\"\":{\"\":",
];
const ENVELOPE_WORDS: &[&str] = &[
    "\"protocol\":\"akashik\"",
    "\"operation\":\"COMPACT\"",
    "\"operation\":\"ATTUNE\"",
    "\"operation\":\"SESSION\"",
    "\"operation\":\"MERGE\"",
    "\"epoch\":9007199254740991",
    "\"payload\":{}",
    "\"session_id\":null",
    "null",
    "[]",
    "\"scope\":{}",
    "\"relations\":[{}]",
];
const RECEIPT_WORDS: &[&str] = &[
    "\"schema\":",
    "\"receipt_id\":",
    "\"signatures\":[{}]",
    "\"previous_receipt_hash\":null",
    "\"object\":\"receipt\"",
    "\"wire\":{\"payload\":{}}",
    "sha256:",
    "\"hash\":null",
    "{}",
    "[]",
];
const EXPORT_WORDS: &[&str] = &[
    "\"position\":1",
    "\"hash\":\"\"",
    "\"header\":{}",
    "\"bodies\":[]",
    "\"bodies\":[{}]",
    "\"epoch\":18446744073709551615",
    "\"events\":[]",
    "null",
    "\n",
];
const CURSOR_WORDS: &[&str] = &[
    "0.0.0",
    ".",
    "18446744073709551615",
    "18446744073709551614",
    "4294967295",
    "c1.task.",
    "evt_",
];

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "json", read: targets::json, words: JSON_WORDS },
    Target { name: "cbor", read: targets::cbor, words: &["\u{7f}", "\u{1b}"] },
    Target { name: "envelope", read: targets::envelope, words: ENVELOPE_WORDS },
    Target { name: "receipt", read: targets::receipt, words: RECEIPT_WORDS },
    Target { name: "export", read: targets::export, words: EXPORT_WORDS },
    Target { name: "snapshot", read: targets::snapshot, words: &["quipu-snapshot 6\n"] },
    Target { name: "snapshot-state", read: targets::snapshot_state, words: &[] },
    Target { name: "snapshot-index", read: targets::snapshot_index, words: &[] },
    Target { name: "cursor", read: targets::cursor, words: CURSOR_WORDS },
    Target { name: "module-frame", read: targets::module_frame, words: JSON_WORDS },
];

impl Target {
    /// The target of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }
}
