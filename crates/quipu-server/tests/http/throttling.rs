//! A key that floods is slowed down; others, and what watches the server, are not.

use std::num::NonZeroU32;

use crate::support::{Setup, TestServer};

fn slow(dev: bool) -> TestServer {
    TestServer::with(Setup { dev, requests_per_second: NonZeroU32::new(1), ..Setup::default() })
}

#[test]
fn a_flood_is_answered_429_with_the_time_to_wait_and_only_for_its_own_key() {
    let server = slow(false);
    let mut flood = server.client().with_key(&server.key(10));
    let refused = (0..100).map(|_| flood.get("/v1/field/status")).find(|reply| reply.status != 200);
    let refused = refused.expect("a hundred requests at once are too many at one a second");
    assert_eq!((refused.status, refused.code().as_str()), (429, "RATE_LIMITED"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.json()["recoverable"], true);
    let posted = (0..100)
        .map(|_| flood.say("a", "/v1/record", &serde_json::json!({"type": "finding"})))
        .find(|reply| reply.status == 429)
        .expect("an operation is refused as well");
    assert_eq!(posted.json()["operation"], "RECORD");
    assert_eq!(server.operator().get("/v1/field/status").status, 200, "another key");
}

#[test]
fn probes_and_metrics_are_never_refused_and_without_keys_nobody_is() {
    let server = slow(false);
    let mut watcher = server.operator();
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
        assert!((0..30).all(|_| watcher.get(path).status == 200), "{path}");
    }
    let server = slow(true);
    let mut anybody = server.client();
    assert!((0..100).all(|_| anybody.get("/v1/field/status").status == 200));
}
