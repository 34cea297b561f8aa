//! Installing: who may, and what is refused by the name of what is wrong.

use quipu_wire::harn::{HarnErrorCode, UpdatePersonaRequest};
use serde_json::{Value, json};

use super::pricing::{CAPABILITIES, PRICING, asked_with, persona};
use crate::replay::runs::{World, asked};

#[tokio::test]
async fn a_module_is_installed_by_high_authority_alone() {
    let world = World::new().await;
    let artifact = world.source("text/x-harn", PRICING).await;
    let refused = world.install(&asked_with("eve", 7), persona(&artifact)).await.unwrap_err();
    assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
    let made = world.install(&asked_with("boss", 8), persona(&artifact)).await.unwrap();
    let mut granted = CAPABILITIES.map(str::to_owned).to_vec();
    granted.sort();
    let mut shown = made.capabilities.clone();
    shown.sort();
    assert_eq!(shown, granted);
    let other = world.source("text/x-harn", "pub fn price(input: any) { return 1 }").await;
    let metadata = json!({"module_ref": "harn://acme/other@1", "module_artifact_id": other});
    for change in [metadata, json!({})] {
        let request = UpdatePersonaRequest::parse(json!({"metadata": change})).unwrap();
        let id = &made.envelope.id;
        let eve = asked_with("eve", 7);
        let refused = world.harness.update_persona(&eve, id, request.clone()).await.unwrap_err();
        assert_eq!(refused.code, HarnErrorCode::PermissionDenied);
        let changed = world.harness.update_persona(&asked("boss"), id, request).await.unwrap();
        assert_eq!(changed.capabilities, Vec::<String>::new());
    }
}

#[tokio::test]
async fn who_says_that_a_module_was_checked_is_not_believed() {
    let world = World::new().await;
    let digest = quipu_wire::harn::Sha256::of(PRICING.as_bytes());
    world.source("text/x-harn", PRICING).await;
    let mut body = persona("");
    let checked = json!({"sha256": digest, "entry": "price", "capabilities": []});
    body["metadata"] = json!({"installed_module": checked});
    let made = world.install(&asked_with("eve", 8), body).await.unwrap();
    assert!(!made.envelope.metadata.contains_key("installed_module"));
}

#[tokio::test]
async fn what_cannot_run_is_refused_by_the_name_of_what_is_wrong() {
    let world = World::new().await;
    let good = world.source("text/x-harn", PRICING).await;
    let empty = world.source("text/x-harn", "").await;
    let text = world.source("text/plain", PRICING).await;
    let broken = world.source("text/x-harn", "pub fn price(").await;
    let elsewhere = world.source("text/x-harn", "pub fn other(input: any) { return 1 }").await;
    const ARTIFACT: &str = "metadata.module_artifact_id";
    let cases: [(&str, Value, &str, HarnErrorCode); 8] = [
        ("/metadata/module_artifact_id", json!(7), ARTIFACT, HarnErrorCode::InvalidRequest),
        (
            "/metadata/module_artifact_id",
            json!("artifact_no"),
            ARTIFACT,
            HarnErrorCode::ResourceNotFound,
        ),
        ("/metadata/module_artifact_id", json!(empty), ARTIFACT, HarnErrorCode::InvalidRequest),
        ("/metadata/module_artifact_id", json!(text), ARTIFACT, HarnErrorCode::InvalidRequest),
        ("/metadata/module_artifact_id", json!(broken), ARTIFACT, HarnErrorCode::InvalidRequest),
        ("/metadata/module_artifact_id", json!(elsewhere), ARTIFACT, HarnErrorCode::InvalidRequest),
        (
            "/metadata/capabilities",
            json!(["sing.aloud"]),
            "metadata.capabilities",
            HarnErrorCode::InvalidRequest,
        ),
        (
            "/metadata/capabilities",
            json!([7]),
            "metadata.capabilities",
            HarnErrorCode::InvalidRequest,
        ),
    ];
    for (member, value, param, code) in cases {
        let mut body = persona(&good);
        *body.pointer_mut(member).unwrap() = value;
        let refused = world.install(&asked("boss"), body.clone()).await.unwrap_err();
        assert_eq!((refused.code, refused.param.as_deref()), (code, Some(param)), "{body}");
    }
    let mut body = persona(&good);
    body.as_object_mut().unwrap().remove("module_ref");
    let refused = world.install(&asked("boss"), body).await.unwrap_err();
    assert_eq!(refused.param.as_deref(), Some("module_ref"));
}
