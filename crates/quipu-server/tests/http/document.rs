//! The OpenAPI document is a promise: it changes only when somebody means it to.

use std::path::Path;

use crate::support::TestServer;

#[test]
fn the_document_is_the_one_that_was_reviewed() {
    let actual = quipu_server::openapi().to_pretty_json().unwrap() + "\n";
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openapi.json");
    std::fs::write(&fresh, &actual).unwrap();
    let reviewed = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(
        reviewed == actual,
        "the OpenAPI document has changed; if that is meant, run\n  cp {} {}\nand review the difference",
        fresh.display(),
        golden.display(),
    );
}

#[test]
fn the_document_is_served_without_a_key_and_names_the_routes() {
    let server = TestServer::start();
    let reply = server.client().get("/openapi.json");
    assert_eq!(reply.status, 200);
    let document = reply.json();
    assert_eq!(document, serde_json::to_value(quipu_server::openapi()).unwrap());
    for path in [
        "register",
        "deregister",
        "record",
        "records",
        "attune",
        "detect",
        "merge",
        "retract",
        "coordinate",
        "handoff",
        "session",
        "replay",
        "compact",
        "subscribe",
    ] {
        let post = &document["paths"][format!("/v1/{path}")]["post"];
        assert!(post["requestBody"].is_object(), "{path}");
        assert!(post["security"].is_array(), "{path}");
    }
}
