//! Which routes there are, and what is answered where there is none.

use crate::support::TestServer;

#[test]
fn an_unknown_route_is_an_error_object() {
    let server = TestServer::start();
    let mut client = server.client();
    for path in ["/v2/record", "/v1/", "/v1/record/", "/v1/recording", "/favicon.ico"] {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.code().as_str()), (404, "ROUTE_NOT_FOUND"), "{path}");
        assert!(reply.message().contains(path), "{}", reply.message());
    }
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let server = TestServer::start();
    let long = "x".repeat(100 * 1024);
    let mut client = server.client();
    let head = client.head("GET", "/healthz", &[("x-long", &long)]);
    client.write(format!("{head}\r\n").as_bytes());
    let reply = client.read();
    assert_eq!((reply.status, reply.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    assert_eq!(server.client().get("/healthz").status, 200);
}

#[test]
fn a_wrong_method_is_an_error_object() {
    let server = TestServer::start();
    let mut client = server.client();
    for (method, path) in [
        ("GET", "/v1/record"),
        ("PUT", "/v1/record"),
        ("POST", "/v1/agents"),
        ("DELETE", "/readyz"),
    ] {
        let reply = client.send(method, path, &[], Some(b"{\"a\": \"body\"}"));
        let expected = (405, "METHOD_NOT_ALLOWED");
        assert_eq!((reply.status, reply.code().as_str()), expected, "{method} {path}");
        assert!(reply.message().contains(method), "{}", reply.message());
        assert!(reply.header("allow").is_some(), "{method} {path}");
    }
}

#[test]
fn the_home_page_says_what_this_is_and_where_to_go() {
    let server = TestServer::start();
    let reply = server.client().get("/");
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").unwrap().starts_with("text/html"));
    assert!(reply.text().contains("/openapi.json") && reply.text().contains("Akashik"));
}
