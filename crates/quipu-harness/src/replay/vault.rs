//! Secrets from vaults, and from whoever asked for the replay, for a module that the server runs again: only one that is
//! still the recorded one. Another would be a changed secret, and no replay takes one up in silence. No worker is ever
//! given one.

use quipu_replay::task::RecordedDependency;
use quipu_wire::harn::{DependencyKind, HarnError};
use serde_json::Value;

use crate::{
    Harness,
    task::{installed_module::Vaults, tasks::TaskView},
};

impl Harness {
    /// The value of a recorded secret, where a vault that answers the module holds it unchanged. Reads storage.
    pub(crate) fn vault_value(
        &self,
        task: &str,
        vaults: &Vaults,
        dependency: &RecordedDependency,
    ) -> Result<Option<Value>, HarnError> {
        let name = dependency.key.strip_prefix("secret:");
        let name = name.filter(|_| dependency.kind == DependencyKind::SecretValue);
        let view = self.field.with_state(|state| TaskView::any(state, task));
        let (Some(name), Some(view)) = (name, view) else { return Ok(None) };
        let (of_run, before) = (self.secrets_of_run(task)?, &self.options.secrets);
        // Recordings of before runs had keys of their own have the digest of all.
        let same = |value: &Value| {
            [&of_run, before].iter().any(|it| it.digest(value) == Some(dependency.sha256))
        };
        let lent = self.lent_to(&view, name).into_iter();
        let held = match self.options.sealer {
            Some(_) => self.secrets_named((&view.workspace, name), vaults)?,
            None => Vec::new(),
        };
        Ok(lent.chain(held).find(same))
    }
}
