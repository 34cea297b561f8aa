//! What only its maker may change, or who may decide for others.

use quipu_wire::harn::{HarnErrorCode, UpdatePersonaRequest};
use serde_json::json;

use crate::support::{asked, harness, persona};

#[tokio::test]
async fn a_personas_receipt_policy_is_changed_by_its_maker_or_with_authority_8() {
    let harness = harness();
    let id = persona(&harness, "required").await;
    let change = || UpdatePersonaRequest::parse(json!({"receipt_policy": "optional"})).unwrap();
    let refused = harness.update_persona(&asked("eve"), &id, change()).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    harness.update_persona(&asked("alice"), &id, change()).await.unwrap();
    let mut chief = asked("chief");
    chief.caller.authority = 8;
    harness.update_persona(&chief, &id, change()).await.unwrap();
    let words = UpdatePersonaRequest::parse(json!({"description": "d"})).unwrap();
    harness.update_persona(&asked("eve"), &id, words).await.unwrap();
}
