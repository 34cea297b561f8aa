//! Requests that are too large, misaddressed, or hardly HTTP.

use std::io::ErrorKind;

use super::victim::start;
use crate::support::{Connection, Message, finding, refused};

#[test]
fn content_beyond_the_limit_is_named_and_a_body_beyond_the_limit_is_too_large() {
    let v = start();
    let sized = |bytes: usize| {
        Message::new("RECORD", "agent", finding(&"x".repeat(bytes))).envelope.to_string()
    };
    let message = refused(&v.post("/v1/record", sized(3 << 19)), 400, "INVALID_PAYLOAD");
    assert!(message.contains("payload.content"), "{message}");
    for _ in 0..3 {
        refused(&v.post("/v1/record", sized(10 << 20)), 413, "PAYLOAD_TOO_LARGE");
    }
    let chunked = {
        let mut bytes =
            b"POST /v1/record HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                          transfer-encoding: chunked\r\n\r\n"
                .to_vec();
        for _ in 0..10 {
            bytes.extend_from_slice(b"100000\r\n");
            bytes.extend(vec![b'x'; 1 << 20]);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    };
    let answer = Connection::open(v.server.address).unwrap().send(&chunked).unwrap();
    refused(&answer, 413, "PAYLOAD_TOO_LARGE");
    let largest = v.post("/v1/record", sized(1 << 20)).ok();
    assert_eq!(largest["status"], "accepted", "a full mebibyte is within the limit");
    v.unharmed(2);
}

#[test]
fn wrong_routes_methods_and_content_types_have_their_own_codes() {
    let v = start();
    let body = Message::new("RECORD", "agent", finding("x")).envelope.to_string();
    refused(&v.post("/v1/sing", &body), 404, "ROUTE_NOT_FOUND");
    refused(&v.post("/v1/record/extra", &body), 404, "ROUTE_NOT_FOUND");
    refused(&v.server.client().get("/v1/record"), 405, "METHOD_NOT_ALLOWED");
    refused(&v.post("/v1/agents", &body), 405, "METHOD_NOT_ALLOWED");
    let typed = |kind: &str| {
        let mut connection = Connection::open(v.server.address).unwrap();
        let headers: &[(&str, &str)] =
            if kind.is_empty() { &[] } else { &[("content-type", kind)] };
        connection.request("POST", "/v1/record", headers, body.as_bytes()).unwrap()
    };
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json"] {
        refused(&typed(kind), 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    refused(&typed(""), 415, "UNSUPPORTED_MEDIA_TYPE");
    typed("application/json; charset=utf-8").ok();
    v.unharmed(2);
}

#[test]
fn what_is_hardly_http_is_refused_or_cut_off_and_the_server_goes_on() {
    let v = start();
    let head = "POST /v1/record HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let huge = format!("GET /healthz HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    for bytes in [
        "\r\n\r\nGARBAGE\r\n\r\n".to_owned(),
        "\u{0}\u{1}\u{2}\u{16}\u{3}\u{1}".repeat(50),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        format!("{head}\r\n"),
        format!("{head}content-length: ten\r\n\r\n{{}}"),
        format!("{head}content-length: -1\r\n\r\n{{}}"),
        format!("{head}content-length: 99999999999999999999999\r\n\r\n{{}}"),
        format!("{head}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}"),
        format!("{head}content-length: 100\r\n\r\n{{\"half\":"),
        format!("{head}transfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n"),
        format!("{head}transfer-encoding: chunked\r\n\r\n5\r\n{{\"a"),
        huge,
    ] {
        let mut connection = Connection::open(v.server.address).unwrap();
        match connection.send_and_stop(bytes.as_bytes()) {
            Ok(answer) => {
                let codes = [(400, "INVALID_PAYLOAD"), (413, "PAYLOAD_TOO_LARGE")];
                let code = answer.json()["code"].clone();
                assert!(
                    codes.iter().any(|known| answer.status == known.0 && code == known.1),
                    "{answer:?}"
                );
            }
            Err(error) => {
                let cut = [
                    ErrorKind::UnexpectedEof,
                    ErrorKind::ConnectionReset,
                    ErrorKind::BrokenPipe,
                    ErrorKind::NotConnected,
                ];
                assert!(cut.contains(&error.kind()), "{error}");
            }
        }
    }
    v.unharmed(1);
}

#[test]
fn what_never_reaches_a_handler_is_refused_in_the_protocols_shape_too() {
    let v = start();
    let send = |text: &str| {
        Connection::open(v.server.address).unwrap().send_and_stop(text.as_bytes()).unwrap()
    };
    for garbage in ["GARBAGE\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n"] {
        let answer = send(garbage);
        refused(&answer, 400, "INVALID_PAYLOAD");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{garbage:?}");
    }
    let many: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    let answer = send(&format!("GET /healthz HTTP/1.1\r\n{many}\r\n"));
    refused(&answer, 413, "PAYLOAD_TOO_LARGE");
    v.unharmed(1);
}
