//! Inputs of a Session: named values that its giver lends to the modules of its own Tasks there. They are secrets unless they
//! are called variables, and no answer shows a secret.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JsonObject, reading};
use crate::{
    json::reader::{ObjectReader, ReadError},
    words::words,
};

/// The longest name of an input.
pub const INPUT_NAME_BYTES_MAX: usize = 128;
pub const INPUT_VALUE_BYTES_MAX: usize = 64 * 1024;
/// The most inputs that one snapshot brings.
pub const INPUTS_MAX: usize = 256;

words! {
    /// What an input is.
    InputKind {
        /// Nobody is shown it again.
        Secret = "secret",
        /// Its giver is shown it.
        Variable = "variable",
    }
}

/// A value that does not show itself where somebody prints what holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct InputValue(pub String);

impl fmt::Debug for InputValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InputValue(..)")
    }
}

/// An input without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSpec {
    pub name: String,
    pub kind: InputKind,
    /// Until when it is kept, in milliseconds since 1970; as long as the Session where absent.
    pub until_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenInput {
    pub spec: InputSpec,
    pub value: InputValue,
}

/// All inputs of one source at once: what the source had before and is not among them is taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputSnapshot {
    pub source: String,
    /// Grows with each; an older one changes nothing.
    pub revision: u64,
    pub inputs: Vec<GivenInput>,
}

/// The body of `POST /v1/sessions/{session_id}/inputs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputsCommand {
    List,
    Put { input: GivenInput, replace: bool },
    Remove { name: String },
    Sync(InputSnapshot),
}

/// What is said of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputDescription {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: InputKind,
    /// `{"kind": "session"}`, or `{"kind": "until", "unix_ms": …}`.
    pub lifetime: JsonObject,
    /// Always `{"kind": "session_tools"}`.
    pub usage: JsonObject,
    /// Of a variable, what it is. A secret never has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The answer to a command about inputs: the members that it has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InputsAnswer {
    /// Of `put`, the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputDescription>,
    /// Of `list` and `sync`, the caller's inputs in the Session, by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<InputDescription>>,
    /// Of `remove`, whether there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<bool>,
    /// Of `sync`, whether it was newer than what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<bool>,
}

impl InputsCommand {
    /// Reads the body. Nothing that it refuses repeats a value.
    ///
    /// # Errors
    /// Where a member is missing, malformed or not known; the error names it.
    pub fn parse(value: Value) -> Result<Self, ReadError> {
        let mut object = reading::body(value)?;
        let kinds = "`list`, `put`, `remove`, `sync`";
        let kind = object.require_word("kind", kinds, |word| {
            ["list", "put", "remove", "sync"].into_iter().find(|known| *known == word)
        })?;
        let command = match kind {
            "put" => Self::Put {
                replace: object.take_bool("replace")?.unwrap_or(false),
                input: given(&mut object)?,
            },
            "remove" => Self::Remove { name: name(&mut object)? },
            "sync" => Self::Sync(snapshot(&mut object)?),
            _ => Self::List,
        };
        object.refuse_leftovers()?;
        Ok(command)
    }
}

fn snapshot(object: &mut ObjectReader) -> Result<InputSnapshot, ReadError> {
    let missing = object.refuse("snapshot", "is required");
    let mut snapshot = object.take_object("snapshot")?.ok_or(missing)?;
    let revision = snapshot.take_integer("revision")?;
    let given_inputs = snapshot.take_array("inputs", INPUTS_MAX)?;
    let mut inputs = Vec::new();
    for (path, value) in given_inputs {
        let mut input = ObjectReader::new(&path, value)?;
        let read = given(&mut input)?;
        if inputs.iter().any(|other: &GivenInput| other.spec.name == read.spec.name) {
            return Err(ReadError::new(path, "has the name of another in this snapshot"));
        }
        input.refuse_leftovers()?;
        inputs.push(read);
    }
    // What is to be struck out of texts: the server writes no text of a module's that could hold it.
    snapshot.take("redactions");
    let source = snapshot.require_id("sourceId")?;
    let revision = revision.ok_or_else(|| snapshot.refuse("revision", "is required"))?;
    snapshot.refuse_leftovers()?;
    Ok(InputSnapshot { source, revision, inputs })
}

fn given(object: &mut ObjectReader) -> Result<GivenInput, ReadError> {
    let missing = object.refuse("spec", "is required");
    let mut spec = object.take_object("spec")?.ok_or(missing)?;
    let name = name(&mut spec)?;
    let kind = spec.take_word("kind", InputKind::WORDS, InputKind::parse)?;
    let until_ms = lifetime(&mut spec)?;
    if let Some(mut usage) = spec.take_object("usage")? {
        usage.require_word("kind", "`session_tools`", |word| {
            (word == "session_tools").then_some(())
        })?;
        usage.refuse_leftovers()?;
    }
    spec.refuse_leftovers()?;
    let kind = kind.unwrap_or(InputKind::Secret);
    let value = value(object, kind)?;
    Ok(GivenInput { spec: InputSpec { name, kind, until_ms }, value })
}

fn lifetime(spec: &mut ObjectReader) -> Result<Option<u64>, ReadError> {
    let Some(mut lifetime) = spec.take_object("lifetime")? else { return Ok(None) };
    let timed = lifetime.require_word("kind", "`session`, `until`", |word| match word {
        "session" => Some(false),
        "until" => Some(true),
        _ => None,
    })?;
    let until = lifetime.take_integer("unix_ms")?;
    lifetime.refuse_leftovers().and_then(|()| match (timed, until) {
        (true, None) => Err(spec.refuse("lifetime.unix_ms", "is required")),
        (false, Some(_)) => Err(spec.refuse("lifetime.unix_ms", "is for `until` alone")),
        (_, until) => Ok(until),
    })
}

/// Takes a value. A refusal says how it is wrong and not what it is.
fn value(object: &mut ObjectReader, kind: InputKind) -> Result<InputValue, ReadError> {
    let Some(Value::String(text)) = object.take("value") else {
        return Err(object.refuse("value", "is required and must be a string"));
    };
    if text.len() > INPUT_VALUE_BYTES_MAX || text.contains('\0') {
        let problem = format!("must have at most {INPUT_VALUE_BYTES_MAX} bytes and no NUL");
        return Err(object.refuse("value", problem));
    }
    if text.is_empty() && kind == InputKind::Secret {
        return Err(object.refuse("value", "must not be empty"));
    }
    Ok(InputValue(text))
}

fn name(object: &mut ObjectReader) -> Result<String, ReadError> {
    let name = object.take_text("name", INPUT_NAME_BYTES_MAX)?.unwrap_or_default();
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if begins && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Ok(name);
    }
    Err(object
        .refuse("name", "must be letters, digits and underscores, and not begin with a digit"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_input_is_a_secret_for_the_session_unless_it_says_otherwise() {
        let put = json!({"kind": "put", "spec": {"name": "SERVICE_KEY"}, "value": "v"});
        let InputsCommand::Put { input, replace: false } = InputsCommand::parse(put).unwrap()
        else {
            panic!("no put");
        };
        let spec =
            InputSpec { name: "SERVICE_KEY".to_owned(), kind: InputKind::Secret, until_ms: None };
        assert_eq!(input.spec, spec);
        assert_eq!(format!("{:?}", input.value), "InputValue(..)");
    }

    #[test]
    fn what_is_malformed_is_named_and_no_value_repeated() {
        let put = |spec: Value, value: Value| json!({"kind": "put", "spec": spec, "value": value});
        let named = || json!({"name": "A"});
        let sync = |snapshot: Value| json!({"kind": "sync", "snapshot": snapshot});
        let twice = json!([{"spec": named(), "value": "x"}, {"spec": named(), "value": "y"}]);
        for (wrong, at) in [
            (json!({}), "kind"),
            (json!({"kind": "show"}), "kind"),
            (json!({"kind": "list", "all": true}), "all"),
            (json!({"kind": "remove", "name": "1A"}), "name"),
            (put(json!({"name": "A-B"}), json!("canary")), "spec.name"),
            (put(named(), json!(7_777)), "value"),
            (put(named(), json!("")), "value"),
            (put(named(), json!("canary\0")), "value"),
            (put(named(), json!("canary".repeat(20_000))), "value"),
            (
                put(json!({"name": "A", "lifetime": {"kind": "saved"}}), json!("v")),
                "spec.lifetime.kind",
            ),
            (
                put(json!({"name": "A", "lifetime": {"kind": "until"}}), json!("v")),
                "spec.lifetime.unix_ms",
            ),
            (
                put(json!({"name": "A", "usage": {"kind": "websites"}}), json!("v")),
                "spec.usage.kind",
            ),
            (sync(json!({"sourceId": "ide", "inputs": []})), "snapshot.revision"),
            (sync(json!({"revision": 1, "inputs": []})), "snapshot.sourceId"),
            (
                sync(json!({"sourceId": "ide", "revision": 1, "inputs": twice})),
                "snapshot.inputs[1]",
            ),
        ] {
            let error = InputsCommand::parse(wrong).unwrap_err();
            assert_eq!(error.path, at);
            assert!(!error.to_string().contains("canary") && !error.to_string().contains("7777"));
        }
    }
}
