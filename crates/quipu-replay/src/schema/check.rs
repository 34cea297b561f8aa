//! Compares a value with the table and lists every breach, each with its place as a JSON pointer.

use serde_json::Value;

use quipu_wire::harn::{Sha256, is_timestamp};

use super::{
    shape::{Kind, Shape},
    table::RECEIPT,
};

/// The most breaches that are listed: a value that has nothing to do with a receipt has too many.
const BREACHES_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", if .path.is_empty() { "the receipt" } else { .path.as_str() })]
pub struct Breach {
    /// Where, as a JSON pointer; empty for the whole.
    pub path: String,
    pub problem: String,
}

/// Every breach of the schema of receipts, in the schema's order.
pub(crate) fn check(receipt: &Value) -> Vec<Breach> {
    let mut found = Vec::new();
    check_object(receipt, &RECEIPT, "", &mut found);
    found.truncate(BREACHES_MAX);
    found
}

fn check_object(value: &Value, shape: &Shape, path: &str, found: &mut Vec<Breach>) {
    let mut breach = |path: String, problem: String| {
        if found.len() < BREACHES_MAX {
            found.push(Breach { path, problem });
        }
    };
    let Value::Object(map) = value else {
        return breach(path.to_owned(), "must be an object".to_owned());
    };
    let known = |name: &str| shape.members.iter().any(|member| member.name == name);
    for name in map.keys().filter(|name| !known(name)) {
        breach(pointer(path, name), "is not a member that receipts have".to_owned());
    }
    let has = |names: &&[&str]| names.iter().all(|name| map.contains_key(*name));
    if !shape.any_of.is_empty() && !shape.any_of.iter().any(has) {
        let problem = "must have `uri` and `sha256`, `bytes_base64` and `sha256`, or `metadata`";
        breach(path.to_owned(), problem.to_owned());
    }
    for member in shape.members {
        let path = pointer(path, member.name);
        match map.get(member.name) {
            Some(value) => check_member(value, member.kind, &path, found),
            None if member.required && found.len() < BREACHES_MAX => {
                found.push(Breach { path, problem: "is required".to_owned() });
            }
            None => {}
        }
    }
}

fn check_member(value: &Value, kind: Kind, path: &str, found: &mut Vec<Breach>) {
    let text = value.as_str();
    let is_digest = || text.is_some_and(|text| text.parse::<Sha256>().is_ok());
    let (holds, expected) = match kind {
        Kind::Text => (text.is_some_and(|text| !text.is_empty()), "a text that is not empty"),
        Kind::Digest => (is_digest(), "sha256: and 64 lowercase hexadecimal digits"),
        Kind::DigestOrNull => {
            (value.is_null() || is_digest(), "sha256: and 64 lowercase hexadecimal digits, or null")
        }
        Kind::Time => (text.is_some_and(is_timestamp), "a time as RFC 3339 has it"),
        Kind::Currency => (text.is_some_and(is_currency), "three capital letters"),
        Kind::Count => (is_count(value), "an integer from 0 on"),
        Kind::Amount => (value.as_f64().is_some_and(|it| it >= 0.0), "a number from 0 on"),
        Kind::Open => (value.is_object(), "an object"),
        Kind::OpenOrNull => (value.is_object() || value.is_null(), "an object or null"),
        Kind::Word(words) => {
            if !text.is_some_and(|text| words.contains(&text)) {
                push(found, path, format!("must be one of {}", words.join(", ")));
            }
            return;
        }
        Kind::Object(shape) => return check_object(value, shape, path, found),
        Kind::List(shape) => return check_list(value, shape, path, found),
    };
    if !holds {
        push(found, path, format!("must be {expected}"));
    }
}

fn check_list(value: &Value, shape: &Shape, path: &str, found: &mut Vec<Breach>) {
    let Value::Array(items) = value else {
        return push(found, path, "must be an array".to_owned());
    };
    for (index, item) in items.iter().enumerate() {
        check_object(item, shape, &format!("{path}/{index}"), found);
    }
}

fn push(found: &mut Vec<Breach>, path: &str, problem: String) {
    if found.len() < BREACHES_MAX {
        found.push(Breach { path: path.to_owned(), problem });
    }
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|letter| letter.is_ascii_uppercase())
}

fn is_count(value: &Value) -> bool {
    value.is_u64() || value.as_f64().is_some_and(|it| it >= 0.0 && it.fract() == 0.0)
}

fn pointer(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}
