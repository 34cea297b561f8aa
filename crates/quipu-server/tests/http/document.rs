//! The OpenAPI document is a promise: it changes only when somebody means it to.

use std::path::Path;

use serde_json::json;

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

#[test]
fn the_document_says_which_authority_a_route_needs_and_how_large_a_body_may_be() {
    let document = serde_json::to_value(quipu_server::openapi()).unwrap();
    let of = |path: &str, method: &str| document["paths"][path][method].clone();
    for (path, method, needed) in [
        ("/v1/log", "get", 8),
        ("/v1/attune", "post", 2),
        ("/v1/keys", "post", 10),
        ("/v1/register", "post", 0),
    ] {
        assert_eq!(of(path, method)["x-required-authority"], needed, "{path}");
    }
    let compact = json!([
        {"authority": 6, "payload": {"strategy": "summarize"}},
        {"authority": 6, "payload": {"strategy": "archive"}},
        {"authority": 10, "payload": {"strategy": "purge"}},
    ]);
    let said = of("/v1/compact", "post")["x-required-authority"].clone();
    let rows = said.as_array().unwrap();
    for row in compact.as_array().unwrap() {
        assert!(rows.contains(row), "{row} is not in {rows:?}");
    }
    for (path, most) in [("/v1/record", 4 * 1024 * 1024), ("/v1/keys", 16 * 1024)] {
        assert_eq!(of(path, "post")["requestBody"]["x-max-bytes"], most, "{path}");
    }
    let all = document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object());
    for (method, operation) in all.flatten() {
        let ways = operation["security"].as_array().cloned().unwrap_or_default();
        let of_harn = ways.iter().any(|way| way.get("oauth2").is_some());
        let is_known = !ways.is_empty() && (!of_harn || method == "get");
        assert_eq!(is_known, !operation["x-required-authority"].is_null(), "{operation}");
    }
}
