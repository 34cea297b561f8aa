//! Reads an exported Task from JSON, and takes no member that an exported Task does not have: nothing that is read away
//! here is bound by the receipt, and yet whoever looks at the document sees it.

use quipu_wire::harn::TaskExport;
use serde::Deserialize as _;
use serde_json::Value;

use super::check_export::{Mismatch, Proven, check_export, mismatch};

const ADDED: &str = "is no member of an exported task, and no receipt proves it";

/// Reads a document and compares it with its receipt, whose own hash is somebody else's to check.
///
/// # Errors
/// The first place that is no part of an exported Task, or that differs.
pub fn check_document(document: &Value) -> Result<Proven, Mismatch> {
    check_export(&read_export(document)?)
}

/// Reads an exported Task.
///
/// # Errors
/// Where it is none (the place is `body`), and the first member that an exported Task does not have.
pub fn read_export(document: &Value) -> Result<TaskExport, Mismatch> {
    let not_one = |error: serde_json::Error| mismatch("body", error.to_string());
    let export = TaskExport::deserialize(document).map_err(not_one)?;
    // What was read is written again: all that is lost on the way, nobody reads.
    let read = serde_json::to_value(&export).map_err(not_one)?;
    check_members(document, &read, "")?;
    Ok(export)
}

/// Checks that all members of a value were read.
fn check_members(came: &Value, read: &Value, place: &str) -> Result<(), Mismatch> {
    match (came, read) {
        (Value::Object(came), Value::Object(read)) => {
            for (name, value) in came {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                check_value(value, read.get(name), &place)?;
            }
            Ok(())
        }
        (Value::Array(came), Value::Array(read)) => {
            for (index, value) in came.iter().enumerate() {
                check_value(value, read.get(index), &format!("{place}[{index}]"))?;
            }
            Ok(())
        }
        // Members where our form has none at all.
        (Value::Object(_) | Value::Array(_), _) => Err(mismatch(place, ADDED)),
        // Whether it is the right value, the digests say.
        _ => Ok(()),
    }
}

fn check_value(came: &Value, read: Option<&Value>, place: &str) -> Result<(), Mismatch> {
    match read {
        Some(read) => check_members(came, read, place),
        // That something is absent may be said.
        None if came.is_null() => Ok(()),
        None => Err(mismatch(place, ADDED)),
    }
}
