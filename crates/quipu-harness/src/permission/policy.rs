//! The policy: what may be done without asking. One for the whole Field; nothing is allowed before one is set.

use quipu_core::{
    DocumentKind, DocumentOwner,
    rules::harn::{Expect, HarnCommand},
};
use quipu_wire::harn::{
    HarnError, HarnErrorCode, PermissionPolicy, PermissionPolicyObject, PermissionPolicyResponse,
    Sha256,
};

use crate::{Harness, WriteRequest, handle::write::Target};

const POLICY: &str = "policy_default";

impl Harness {
    /// `GET /v1/permissions/policy`.
    ///
    /// # Errors
    /// Where storage cannot be read.
    pub async fn permission_policy(&self) -> Result<PermissionPolicyResponse, HarnError> {
        self.reading(|harness| with_version(harness.load_policy()?)).await
    }

    /// `PUT /v1/permissions/policy`.
    ///
    /// # Errors
    /// 403 below authority 8, and below 10 where another set one.
    pub async fn set_permission_policy(
        &self,
        write: &WriteRequest,
        policy: PermissionPolicy,
    ) -> Result<PermissionPolicyResponse, HarnError> {
        let (kind, owner) = (DocumentKind::Policy, DocumentOwner::default());
        self.check_policy_object(&write.caller, kind, POLICY)?;
        let command = HarnCommand {
            documents: vec![self.draft(kind, POLICY, owner, Expect::Any, &policy)?],
            ..HarnCommand::default()
        };
        let target = Target { workspace: "", method: "PUT", path: "/v1/permissions/policy" };
        self.write(write, target, None, command).await?;
        self.permission_policy().await
    }

    /// The policy. Reads storage.
    pub(super) fn load_policy(&self) -> Result<PermissionPolicy, HarnError> {
        Ok(self.stored(DocumentKind::Policy, POLICY)?.unwrap_or_default())
    }
}

/// The policy with the digest that decisions name.
pub(super) fn with_version(
    policy: PermissionPolicy,
) -> Result<PermissionPolicyResponse, HarnError> {
    let failed = |_| HarnError::new(HarnErrorCode::InternalError, "the policy cannot be written");
    let value = serde_json::to_value(&policy).map_err(failed)?;
    let version = Sha256::of_json(&value).map_err(|_| {
        HarnError::new(HarnErrorCode::InternalError, "the policy has no canonical form")
    })?;
    let object = PermissionPolicyObject::PermissionPolicy;
    Ok(PermissionPolicyResponse { object, version: version.to_string(), policy })
}
