//! Between our values and the kernel's: answers, counts, and the one form of JSON that both sides see.

use harn_kernel::{CapabilityResult, DataValue};
use serde::Deserialize;
use serde_json::Value;

use quipu_wire::{harn::Sha256, json::canon};

use super::{diagnostic::Diagnostic, llm};

/// How many steps the kernel had taken when it asked. It says so only in its snapshot; where it does not, the run
/// is charged with all that one pass may take.
pub(super) fn steps(snapshot: &[u8]) -> u64 {
    #[derive(Deserialize)]
    struct Taken {
        fuel_consumed: u64,
    }
    const BEFORE: usize = 12;
    const BEHIND: usize = 32;
    const ALL: u64 = 2_000_000;
    let body = snapshot.get(BEFORE..snapshot.len().saturating_sub(BEHIND)).unwrap_or_default();
    serde_json::from_slice::<Taken>(body).map_or(ALL, |taken| taken.fuel_consumed)
}

/// An answer as the kernel takes it: a value, or a failure that the module can catch.
pub(super) fn result(
    request_id: String,
    capability: &str,
    answer: Value,
) -> Result<CapabilityResult, harn_kernel::Diagnostic> {
    if let Some(error) =
        answer.as_object().filter(|it| it.len() == 1).and_then(|it| it.get("$error"))
    {
        let text =
            |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        return Ok(CapabilityResult::Err {
            request_id,
            code: text("code"),
            message: text("message"),
        });
    }
    let answer = if llm::answers_with_record(capability) { llm::complete(answer) } else { answer };
    Ok(CapabilityResult::Ok { request_id, value: DataValue::from_json(answer)? })
}

/// The form that a recording will have: live and replayed, a module must see the same, and canonical JSON has one
/// way to write a number where JSON has two.
pub(super) fn canonical(value: &Value, what: &str) -> Result<Value, Diagnostic> {
    let refused = |why: String| {
        Diagnostic::new("not_canonical", format!("{what} has no canonical JSON: {why}"))
    };
    let bytes = canon::to_vec(value).map_err(|error| refused(error.to_string()))?;
    canon::parse(&bytes).map_err(|error| refused(error.to_string()))
}

pub(super) fn digest(value: &Value) -> Result<Sha256, Diagnostic> {
    let refused = |error| Diagnostic::new("not_canonical", format!("no canonical JSON: {error}"));
    Sha256::of_json(value).map_err(refused)
}
