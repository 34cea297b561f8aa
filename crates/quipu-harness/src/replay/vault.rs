//! Secrets from vaults, for a worker that replays: only one that is still the recorded one. Another would be a
//! changed secret, and no replay takes one up in silence.

use quipu_replay::task::RecordedDependency;
use quipu_wire::harn::{DependencyKind, HarnError};
use serde_json::Value;

use crate::{Harness, task::tasks::TaskView};

impl Harness {
    /// The value of a recorded secret, where a vault of the Task's Workspace holds it unchanged. Reads storage.
    pub(crate) fn vault_value(
        &self,
        task: &str,
        dependency: &RecordedDependency,
    ) -> Result<Option<Value>, HarnError> {
        let name = dependency.key.strip_prefix("secret:");
        let name = name.filter(|_| dependency.kind == DependencyKind::SecretValue);
        let view = self.field.with_state(|state| TaskView::any(state, task));
        let (Some(name), Some(view)) = (name, view) else { return Ok(None) };
        if self.options.sealer.is_none() {
            return Ok(None);
        }
        let same = |value: &Value| self.options.secrets.digest(value) == Some(dependency.sha256);
        Ok(self.secrets_named(&view.workspace, name)?.into_iter().find(same))
    }
}
