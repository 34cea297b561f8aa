//! What was agreed to, in the words of the question that was asked.

use quipu_core::DocumentKind;
use quipu_wire::harn::{Approval, HarnError, PermissionRequest};
use serde_json::Value;

use crate::Harness;

impl Harness {
    /// Says of an approval what it was about. Who agreed is whose key answered, and not whom the answer names. Reads
    /// storage.
    pub(super) fn describe_approval(&self, approval: &mut Approval) -> Result<(), HarnError> {
        let Some(id) = &approval.approval_id else { return Ok(()) };
        let asked = self.stored::<PermissionRequest>(DocumentKind::PermissionRequest, id)?;
        let Some(asked) = asked else { return Ok(()) };
        let text = |value: &Value, name: &str| {
            let text = value.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let Some(action) = text(&asked.action, "action") {
            approval.action = action;
        }
        Ok(())
    }
}
