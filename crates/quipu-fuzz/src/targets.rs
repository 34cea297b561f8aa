//! What each target does with its bytes.

use std::{io, io::Write as _};

use quipu_core::State;
use quipu_field::snapshot::format;
use quipu_log::{Head, jsonl};
use quipu_recall::Index;
use quipu_replay::{cbor as deterministic, module, receipt as receipts};
use quipu_wire::{
    akashik::{
        AttunePayload, CompactPayload, CoordinatePayload, DeregisterPayload, DetectPayload,
        Envelope, HandoffPayload, MergePayload, Operation, RecordPayload, RegisterPayload,
        ReplayPayload, SessionPayload, SubscribePayload,
    },
    harn::{Cursor as ListCursor, ResourceKind},
    json::{canon, reader::ReadError},
};
use serde_json::Value;

/// The reason without its particulars, so that two reasons of one kind count as one.
fn kind_of(reason: &impl ToString) -> String {
    let reason = reason.to_string();
    reason.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(48).collect()
}

/// Strict JSON: what is read is written canonically, and read back as the same.
pub(crate) fn json(bytes: &[u8]) -> String {
    match canon::parse(bytes) {
        Err(error) => kind_of(&error),
        Ok(value) => {
            let written = canon::to_vec(&value).expect("what was read strictly can be written");
            let back = canon::parse(&written).expect("what was written can be read");
            assert_eq!(canon::to_vec(&back).expect("again"), written, "canonical is canonical");
            shape(&value)
        }
    }
}

fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => "fraction".to_owned(),
        Value::Number(_) => "integer".to_owned(),
        Value::String(text) => format!("text {}", text.len().min(64).ilog2_or_zero()),
        Value::Array(items) => format!("array {}", items.len().min(8)),
        Value::Object(members) => format!("object {}", members.len().min(8)),
    }
}

/// The logarithm of a length, for shapes alone.
trait Log {
    fn ilog2_or_zero(self) -> u32;
}

impl Log for usize {
    fn ilog2_or_zero(self) -> u32 {
        self.checked_ilog2().unwrap_or_default()
    }
}

/// Deterministic CBOR: there is one way to write what is read, and it is these bytes.
pub(crate) fn cbor(bytes: &[u8]) -> String {
    match deterministic::decode(bytes) {
        Err(error) => kind_of(&error),
        Ok(value) => {
            if let Ok(written) = deterministic::encode(&value) {
                assert_eq!(written, bytes, "deterministic");
            }
            shape(&value)
        }
    }
}

/// A request of Akashik, with its payload.
pub(crate) fn envelope(bytes: &[u8]) -> String {
    let Ok(body) = canon::parse(bytes) else { return "no JSON".to_owned() };
    match Envelope::parse(body) {
        Err(error) => kind_of(&error),
        Ok(envelope) => {
            let operation = envelope.operation;
            match payload(operation, envelope.payload) {
                Ok(warnings) => format!("{operation:?} {}", warnings.len().min(4)),
                Err(error) => format!("{operation:?} {}", kind_of(&error)),
            }
        }
    }
}

fn payload(operation: Operation, payload: Value) -> Result<Vec<String>, ReadError> {
    Ok(match operation {
        Operation::Register => RegisterPayload::parse(payload)?.1,
        Operation::Deregister => DeregisterPayload::parse(payload)?.1,
        Operation::Record => RecordPayload::parse(payload)?.1,
        Operation::Attune => AttunePayload::parse(payload)?.1,
        Operation::Detect => DetectPayload::parse(payload)?.1,
        Operation::Merge => MergePayload::parse(payload)?.1,
        Operation::Subscribe => SubscribePayload::parse(payload)?.1,
        Operation::Replay => ReplayPayload::parse(payload)?.1,
        Operation::Compact => CompactPayload::parse(payload)?.1,
        Operation::Coordinate => CoordinatePayload::parse(payload)?.1,
        Operation::Handoff => HandoffPayload::parse(payload)?.1,
        Operation::Session => SessionPayload::parse(payload)?.1,
    })
}

/// A receipt in any of its forms, read and checked.
pub(crate) fn receipt(bytes: &[u8]) -> String {
    match receipts::read_document(bytes) {
        Err(error) => kind_of(&error),
        Ok((document, form)) => {
            let verdict = receipts::verify(&document, receipts::Trusted::default());
            format!("{form:?} {}", kind_of(&verdict.reason().unwrap_or_default()))
        }
    }
}

/// Lines of an export, each after the one before.
pub(crate) fn export(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let (mut head, mut read) = (Head::EMPTY, 0);
    for line in text.lines() {
        match jsonl::read_line(line, &head) {
            Err(damage) => return format!("{read} {}", kind_of(&damage)),
            Ok(commit) => {
                let mut written = Vec::new();
                jsonl::write_line(&mut written, &commit).expect("what was read can be written");
                head = commit.head();
                read += 1;
            }
        }
    }
    format!("{read}")
}

/// A snapshot as it is found on disk.
pub(crate) fn snapshot(bytes: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the snapshot");
    file.write_all(bytes).expect("room for the snapshot");
    match format::load(file.path()) {
        Ok(_) => "a snapshot".to_owned(),
        Err(format::SnapshotError::Damaged { what, .. }) => kind_of(&what),
        Err(_) => "older".to_owned(),
    }
}

/// The state within a snapshot, as if its hash were right.
pub(crate) fn snapshot_state(bytes: &[u8]) -> String {
    match postcard::from_bytes::<State>(bytes) {
        Ok(state) => format!("a state of {}", state.position.checked_ilog2().unwrap_or_default()),
        Err(error) => kind_of(&error),
    }
}

/// The index within a snapshot, as if its hash were right.
pub(crate) fn snapshot_index(bytes: &[u8]) -> String {
    match Index::read_from(&mut &*bytes) {
        Ok(index) => format!("an index of {}", index.len().ilog2_or_zero()),
        Err(error) => kind_of(&error),
    }
}

/// The places that a client gives back: of a stream, and of a list.
pub(crate) fn cursor(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else { return "no text".to_owned() };
    let of_stream = quipu_core::cursor::Cursor::parse(text);
    if let Some(cursor) = of_stream {
        assert_eq!(quipu_core::cursor::Cursor::parse(&cursor.to_string()), Some(cursor));
    }
    let of_list = text.parse::<ListCursor>().ok();
    if let Some(cursor) = of_list {
        assert_eq!(cursor.to_string().parse::<ListCursor>().ok(), Some(cursor));
        ListCursor::read(Some(text), ResourceKind::Task).ok();
    }
    format!("{} {}", of_stream.is_some(), of_list.is_some())
}

/// What the process of a module says to the server that started it.
pub(crate) fn module_frame(bytes: &[u8]) -> String {
    match module::Remote::compile(bytes, io::sink(), "", "entry") {
        Err(lost) => kind_of(&lost),
        Ok(Err(refused)) => kind_of(&refused),
        Ok(Ok(mut remote)) => {
            let policy = module::Policy::new(["clock.now_ms"], module::SnapshotKey([0; 32]));
            let policy = policy.expect("a capability");
            let mut answers = |_: &module::Request| module::Answer::Value(Value::from(1));
            match remote.run(&policy, &Value::Null, &mut answers) {
                Err(lost) => kind_of(&lost),
                Ok(module::ModuleRun::Completed { .. }) => "completed".to_owned(),
                Ok(module::ModuleRun::Suspended { .. }) => "suspended".to_owned(),
                Ok(module::ModuleRun::Failed { .. }) => "failed".to_owned(),
            }
        }
    }
}
