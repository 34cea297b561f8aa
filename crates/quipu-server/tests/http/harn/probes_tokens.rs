//! What the suite never asks: that an access token does only what its scopes say.

use serde_json::json;

use super::{
    bearer,
    provider::{Alg, Provider},
    run::check_refusal,
};

#[test]
fn a_token_reads_and_writes_only_within_its_scopes() {
    let provider = Provider::new();
    let server = provider.server();
    let caller =
        |scope: &str| bearer(&server, &provider.token(Alg::EdDsa, &json!({"scope": scope})));
    let body = json!({"input": {"text": "a"}});
    let submit = "/v1/sessions/session_default/tasks";
    assert_eq!(caller("tasks:read").get("/v1/tasks").status, 200);
    check_refusal(&caller("tasks:read").post(submit, &body), 403, "permission_denied");
    check_refusal(&caller("tasks:write events:read").get("/v1/tasks"), 403, "permission_denied");
    check_refusal(&caller("").get("/v1/events"), 403, "permission_denied");
    let submitted = caller("tasks:write").post(submit, &body);
    assert!([200, 201, 202].contains(&submitted.status), "{}", submitted.text());
    assert_eq!(submitted.json()["created_by"], "a", "the token's own agent");
}
