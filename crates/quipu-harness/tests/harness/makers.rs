//! What others work under: who may make it, and who may change it.

use quipu_harness::WriteRequest;
use quipu_wire::harn::{
    Change, CreatePersonaRequest, HarnErrorCode, JsonObject, UpdatePersonaRequest,
};
use serde_json::json;

use crate::support::{asked, harness, persona};

fn with(agent: &str, authority: u8) -> WriteRequest {
    let mut asked = asked(agent);
    asked.caller.authority = authority;
    asked
}

#[tokio::test]
async fn a_persona_is_changed_by_its_maker_with_authority_8_or_by_authority_10() {
    let harness = harness();
    let id = persona(&harness, "required").await;
    let changes = [
        UpdatePersonaRequest::parse(json!({"receipt_policy": "optional"})).unwrap(),
        UpdatePersonaRequest::parse(json!({"description": "d"})).unwrap(),
        UpdatePersonaRequest {
            description: None,
            receipt_policy: None,
            quota_id: Change::Clear,
            metadata: Some(JsonObject::default()),
        },
    ];
    for change in changes {
        for asked in [with("alice", 7), with("eve", 4), with("eve", 9)] {
            let refused = harness.update_persona(&asked, &id, change.clone()).await.unwrap_err();
            assert_eq!(refused.code, HarnErrorCode::PermissionDenied, "{asked:?}");
        }
        for asked in [with("alice", 8), with("chief", 10)] {
            harness.update_persona(&asked, &id, change.clone()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_persona_is_made_with_authority_8() {
    let harness = harness();
    let body = json!({
        "name": "worker", "version": "1", "entry_workflow": "main", "description": "works",
        "autonomy_tier": "act_auto", "receipt_policy": "required",
    });
    let request = || CreatePersonaRequest::parse(body.clone()).unwrap();
    let refused = harness.create_persona(&with("eve", 7), request()).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    harness.create_persona(&with("lead", 8), request()).await.unwrap();
}
