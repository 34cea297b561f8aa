//! What is answered where there is no route, or too much: this protocol's envelope on its own paths, and
//! nowhere else.

use std::num::NonZeroU32;

use super::{APRIL, VERSION, bearer, refusal, refused, stranger};
use crate::support::{Setup, TestServer};

#[test]
fn an_unknown_path_under_a_resource_is_not_found_in_this_protocols_words() {
    let server = TestServer::start();
    for path in ["/v1/tasks/t/nothing", "/v1/skills/s/more", "/v1/tasks/", "/v1/permissions"] {
        let reply = stranger(&server).get(path);
        assert_eq!(refusal(&reply), refused(404, "resource_not_found"), "{path}");
        assert!(reply.json()["error"]["message"].as_str().unwrap().contains(path));
    }
    let elsewhere = server.client().get("/v1/nothing");
    assert_eq!((elsewhere.status, elsewhere.code().as_str()), (404, "ROUTE_NOT_FOUND"));
}

#[test]
fn whoever_says_the_version_of_this_protocol_is_refused_in_its_words_on_every_path() {
    let server = TestServer::start();
    for version in [APRIL, "agents-protocol-1900-01-01"] {
        let mut spoken = stranger(&server).with(VERSION, version);
        for path in ["/v1/nothing", "/v1/record/more", "/v1/", "/nothing"] {
            let reply = spoken.get(path);
            assert_eq!(refusal(&reply), refused(404, "resource_not_found"), "{path}");
        }
        for (method, path) in [("GET", "/v1/record"), ("DELETE", "/v1/attune")] {
            let reply = spoken.send(method, path, &[], None);
            assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{method} {path}");
            assert!(reply.header("allow").unwrap().contains("POST"), "{method} {path}");
        }
    }
    let reply = server.client().get("/v1/record");
    assert_eq!((reply.status, reply.code().as_str()), (405, "METHOD_NOT_ALLOWED"));
}

#[test]
fn a_wrong_method_is_an_invalid_request_that_says_which_are_right() {
    let server = TestServer::start();
    for (method, path) in [("POST", "/v1"), ("DELETE", "/v1/agent-card"), ("PUT", "/v1/runtime")] {
        let reply = stranger(&server).send(method, path, &[], Some(b"{}"));
        assert_eq!(refusal(&reply), refused(400, "invalid_request"), "{method} {path}");
        assert!(reply.header("allow").unwrap().contains("GET"));
    }
}

#[test]
fn a_request_keeps_the_id_that_its_caller_gave_it() {
    let server = TestServer::start();
    let reply = stranger(&server).send("GET", "/v1/runtime", &[("x-request-id", "mine-1")], None);
    assert_eq!(reply.json()["error"]["request_id"], "mine-1");
}

#[test]
fn a_flood_is_429_and_told_how_long_to_wait() {
    let requests_per_second = NonZeroU32::new(1);
    let server = TestServer::with(Setup { requests_per_second, ..Setup::default() });
    let mut flood = bearer(&server, &server.key(10));
    let refusals = (0..100).map(|_| flood.get("/v1/runtime")).find(|reply| reply.status != 200);
    let reply = refusals.expect("a hundred requests at once are too many at one a second");
    assert_eq!(refusal(&reply), refused(429, "rate_limited"));
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert_eq!(reply.json()["error"]["type"], "rate_limit_error");
}

#[test]
fn refusals_are_counted_under_the_path_of_their_route() {
    let server = TestServer::start();
    stranger(&server).get("/v1/tasks/task_1/nothing-such");
    stranger(&server).get("/v1/runtime");
    let metrics = server.operator().with(VERSION, APRIL).get("/metrics").text();
    assert!(metrics.contains("route=\"/v1/runtime\",status=\"401\""), "{metrics}");
    assert!(!metrics.contains("task_1"), "callers add no names");
}
