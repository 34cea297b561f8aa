//! Who may write what others work under: Workspaces, Personas, Quotas, Vaults, Connectors, the permission policy and its
//! rules. Making one takes authority 8, changing one its maker with authority 8, or authority 10.

use quipu_core::DocumentKind;
use quipu_wire::{
    harn::{Change, HarnError, HarnErrorCode},
    limits::AUTHORITY_MAX,
};

use crate::{Caller, Harness, handle::caller::AUTHORITY_POLICY};

impl Harness {
    /// Checks that the caller may make or change a policy object.
    ///
    /// # Errors
    /// 403 below authority 8, and for another's below 10.
    pub(crate) fn check_policy_object(
        &self,
        caller: &Caller,
        kind: DocumentKind,
        id: &str,
    ) -> Result<(), HarnError> {
        caller.require(AUTHORITY_POLICY)?;
        let own = self.field.with_state(|state| {
            let entry = state.documents.get(kind, id);
            entry.is_none_or(|entry| entry.created_by == caller.agent)
        });
        if own || caller.authority >= AUTHORITY_MAX {
            return Ok(());
        }
        let message = format!("{id} is changed by who made it, or with authority {AUTHORITY_MAX}");
        Err(HarnError::new(HarnErrorCode::PermissionDenied, message))
    }

    /// Checks that the caller may take something out of the Quota that it is under.
    ///
    /// # Errors
    /// 403 where the caller could not change that Quota.
    pub(crate) fn check_quota_left(
        &self,
        caller: &Caller,
        current: Option<&str>,
        change: &Change<String>,
    ) -> Result<(), HarnError> {
        let Some(quota) = current else { return Ok(()) };
        let stays = match change {
            Change::Keep => true,
            Change::Set(id) => id == quota,
            Change::Clear => false,
        };
        if stays {
            return Ok(());
        }
        let checked = self.check_policy_object(caller, DocumentKind::Quota, quota);
        checked.map_err(|error| error.at("quota_id"))
    }
}
