//! Whether a message that comes again says in free text what it said the first time.

use quipu_log::{Body, BodyContent, Commit};

/// Compares a text with the first one of a commit. Where that was erased since, it cannot be compared.
pub(super) fn same_text(said: Option<&Body>, commit: &Commit) -> bool {
    match (said, commit.bodies.first().map(|stored| &stored.content)) {
        (Some(said), Some(BodyContent::Present(stored))) => said.json == stored.json,
        (Some(_), Some(BodyContent::Erased)) | (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}
