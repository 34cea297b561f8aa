//! What the line of an event log binds of an event: everything that an export says of it, the longer parts as digests.

use quipu_wire::{
    harn::{ExportedDependency, ExportedEvent, JsonObject, Sha256},
    json::canon::{self, CanonError},
};
use serde::Serialize;
use serde_json::Value;

/// The member of a line's metadata that binds what is not in the line itself.
pub const BOUND: &str = "bound";

/// What is bound of an event besides its id, name, number and time.
///
/// # Errors
/// Where the particulars have no canonical JSON.
pub fn event_binding(event: &ExportedEvent) -> Result<JsonObject, CanonError> {
    // Each member by name, so that none that is added later is forgotten.
    let ExportedEvent {
        id: _,
        event: _,
        sequence: _,
        created_at: _,
        visibility,
        payload,
        sha256,
        dependency,
        checkpoint_id,
    } = event;
    let mut bound = JsonObject::with("visibility", visibility.as_str());
    let digest = Sha256::of(&canon::to_vec(payload)?);
    bound.insert("payload".to_owned(), digest.to_string().into());
    if let Some(sha256) = sha256 {
        bound.insert("sha256".to_owned(), sha256.to_string().into());
    }
    if let Some(dependency) = dependency {
        bound.insert("dependency".to_owned(), Value::Object(dependency_binding(dependency).0));
    }
    if let Some(checkpoint) = checkpoint_id {
        bound.insert("checkpoint_id".to_owned(), checkpoint.as_str().into());
    }
    Ok(bound)
}

fn dependency_binding(dependency: &ExportedDependency) -> JsonObject {
    let ExportedDependency { key, kind, sha256, request_sha256, value, artifact_id } = dependency;
    let mut bound = JsonObject::with("key", key.as_str());
    let mut say = |name: &str, text: String| bound.insert(name.to_owned(), text.into());
    say("kind", kind.as_str().to_owned());
    if let Some(digest) = sha256 {
        say("sha256", digest.to_string());
    }
    if value.is_some() {
        // The answer itself is bound by its digest; that it was kept, by this.
        say("value", "kept".to_owned());
    }
    if let Some(digest) = request_sha256 {
        say("request_sha256", digest.to_string());
    }
    if let Some(artifact) = artifact_id {
        say("artifact_id", artifact.clone());
    }
    bound
}

/// A line of the event log of a replay that the server carried out: like the replay's receipt the same on every server,
/// and so without the ids and numbers of events, which are each server's own.
///
/// # Errors
/// Where the particulars have no canonical JSON.
pub fn replayed_line(event: &ExportedEvent) -> Result<Vec<u8>, CanonError> {
    #[derive(Serialize)]
    struct Line<'a> {
        object: &'static str,
        event: &'a str,
        created_at: &'a str,
        metadata: JsonObject,
    }
    let metadata = JsonObject::with(BOUND, Value::Object(event_binding(event)?.0));
    let (name, created_at) = (event.event.as_str(), &event.created_at);
    let line = Line { object: "replayed_event", event: name, created_at, metadata };
    let mut line = canon::to_vec(&line)?;
    line.push(b'\n');
    Ok(line)
}
