//! Writes a JSON value as deterministic CBOR. A whole number is an integer, however JSON wrote it,
//! because canonical JSON has one text for both.

use serde_json::{Number, Value};

use quipu_wire::{json::canon::MAX_DEPTH, limits::SAFE_INTEGER_MAX};

use super::float::{Shortest, shortest};

pub(super) const UNSIGNED: u8 = 0;
pub(super) const NEGATIVE: u8 = 1;
pub(super) const TEXT: u8 = 3;
pub(super) const ARRAY: u8 = 4;
pub(super) const MAP: u8 = 5;
pub(super) const FALSE: u8 = 0xf4;
pub(super) const TRUE: u8 = 0xf5;
pub(super) const NULL: u8 = 0xf6;
pub(super) const HALF: u8 = 0xf9;
pub(super) const SINGLE: u8 = 0xfa;
pub(super) const DOUBLE: u8 = 0xfb;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    #[error("integer {0} is outside -(2^53-1)..=2^53-1")]
    IntegerTooLarge(String),
    #[error("value is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

/// Writes `value`.
///
/// # Errors
/// Where the value has no canonical JSON either.
pub fn encode(value: &Value) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    write(&mut out, value, 0)?;
    Ok(out)
}

fn write(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<(), EncodeError> {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(false) => out.push(FALSE),
        Value::Bool(true) => out.push(TRUE),
        Value::Number(number) => write_number(out, number)?,
        Value::String(text) => write_text(out, text),
        Value::Array(_) | Value::Object(_) if depth == MAX_DEPTH => {
            return Err(EncodeError::TooDeep);
        }
        Value::Array(items) => {
            write_head(out, ARRAY, items.len() as u64);
            for item in items {
                write(out, item, depth + 1)?;
            }
        }
        Value::Object(map) => {
            write_head(out, MAP, map.len() as u64);
            let mut members: Vec<(Vec<u8>, &Value)> = map
                .iter()
                .map(|(key, value)| {
                    let mut encoded = Vec::with_capacity(key.len() + 2);
                    write_text(&mut encoded, key);
                    (encoded, value)
                })
                .collect();
            members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            for (key, value) in members {
                out.extend(key);
                write(out, value, depth + 1)?;
            }
        }
    }
    Ok(())
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    write_head(out, TEXT, text.len() as u64);
    out.extend(text.as_bytes());
}

/// Writes a major type and its argument in the fewest bytes.
fn write_head(out: &mut Vec<u8>, major: u8, argument: u64) {
    let major = major << 5;
    let bytes = argument.to_be_bytes();
    let [.., a, b, c, d] = bytes;
    match argument {
        0..24 => out.push(major | d),
        24..0x100 => out.extend([major | 24, d]),
        0x100..0x1_0000 => out.extend([major | 25, c, d]),
        0x1_0000..0x1_0000_0000 => out.extend([major | 26, a, b, c, d]),
        _ => {
            out.push(major | 27);
            out.extend(bytes);
        }
    }
}

fn write_number(out: &mut Vec<u8>, number: &Number) -> Result<(), EncodeError> {
    let too_large = || EncodeError::IntegerTooLarge(number.to_string());
    if let Some(value) = number.as_u64() {
        if value > SAFE_INTEGER_MAX {
            return Err(too_large());
        }
        write_head(out, UNSIGNED, value);
    } else if let Some(value) = number.as_i64() {
        if value.unsigned_abs() > SAFE_INTEGER_MAX {
            return Err(too_large());
        }
        write_head(out, NEGATIVE, value.unsigned_abs() - 1);
    } else {
        let value = number.as_f64().ok_or_else(too_large)?;
        match as_integer(value) {
            Some(value) => write_number(out, &Number::from(value))?,
            None => write_float(out, value),
        }
    }
    Ok(())
}

/// The integer that a double is, if it is one and canonical JSON writes it as one.
#[expect(clippy::cast_possible_truncation, reason = "whole and within the exact range")]
#[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact")]
pub(super) fn as_integer(value: f64) -> Option<i64> {
    let whole = value.fract() == 0.0 && value.abs() <= SAFE_INTEGER_MAX as f64;
    whole.then_some(value as i64)
}

fn write_float(out: &mut Vec<u8>, value: f64) {
    match shortest(value) {
        Shortest::Half(bits) => {
            out.push(HALF);
            out.extend(bits.to_be_bytes());
        }
        Shortest::Single(bits) => {
            out.push(SINGLE);
            out.extend(bits.to_be_bytes());
        }
        Shortest::Double(bits) => {
            out.push(DOUBLE);
            out.extend(bits.to_be_bytes());
        }
    }
}
