//! What a module may ask for: an allow list of capabilities, as a Persona's policy has it, and the key that
//! authenticates its snapshots.

use std::{collections::BTreeSet, fmt};

use harn_kernel::GrantSet;

use super::compile::ModuleError;

/// The kernel wants a key of its own for snapshots that never leave this crate: ours are made and checked apart.
const KERNEL_KEY: [u8; 32] = [0; 32];

/// The key that authenticates snapshots. Whoever has it can make a module believe anything.
#[derive(Clone, PartialEq, Eq)]
pub struct SnapshotKey(pub [u8; 32]);

impl fmt::Debug for SnapshotKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SnapshotKey(..)")
    }
}

#[derive(Debug, Clone)]
pub struct Policy {
    names: BTreeSet<String>,
    grants: GrantSet,
    key: SnapshotKey,
}

impl Policy {
    /// A policy that grants these capabilities, each by its exact name, such as `llm.call` or `clock.now_ms`.
    ///
    /// # Errors
    /// Where a name is no capability, or one that works with handles which no recording can hold.
    pub fn new<N: Into<String>>(
        names: impl IntoIterator<Item = N>,
        key: SnapshotKey,
    ) -> Result<Self, ModuleError> {
        let names: BTreeSet<String> = names.into_iter().map(Into::into).collect();
        let grants = GrantSet::from_names(names.iter().cloned())
            .map_err(|refused| ModuleError::NotGrantable(refused.into()))?
            .with_snapshot_key(KERNEL_KEY);
        Ok(Self { names, grants, key })
    }

    /// What it grants, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) const fn grants(&self) -> &GrantSet {
        &self.grants
    }

    pub(super) const fn key(&self) -> &SnapshotKey {
        &self.key
    }
}
