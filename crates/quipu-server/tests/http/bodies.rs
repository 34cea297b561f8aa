//! Bodies that are not what they should be.

use crate::support::{TestServer, attune, committed, register};

const MIB: usize = 1024 * 1024;

#[test]
fn what_is_not_one_json_object_is_refused_and_the_connection_goes_on() {
    let server = TestServer::dev();
    let mut client = server.client();
    client.post("/v1/register", &register("a"));
    for body in [
        "",
        "{",
        "{\"type\":",
        "[]",
        "[{}]",
        "null",
        "3",
        "\"text\"",
        "true",
        "{} {}",
        "{'a': 1}",
        "{\"type\": \"finding\", \"type\": \"decision\"}",
        "{\"n\": 1e999}",
        "\u{feff}{}",
        "{\"n\": 9007199254740993}",
        "{\"content\": \"\\ud800\"}",
        &"[".repeat(100_000),
    ] {
        let reply = client.post_raw("/v1/record", &[("akashik-agent", "a")], body.as_bytes());
        let short: String = body.chars().take(40).collect();
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"), "{short}");
        assert!(reply.message().starts_with("body: "), "{}", reply.message());
        assert_eq!(reply.json()["operation"], "RECORD");
    }
    let not_utf8 = b"{\"content\": \"\xFF\"}";
    assert_eq!(client.post_raw("/v1/record", &[], not_utf8).code(), "INVALID_PAYLOAD");
    assert_eq!(client.say("a", "/v1/record", &committed("fine")).status, 200);
}

#[test]
fn a_duplicate_key_is_named() {
    let server = TestServer::dev();
    let body = b"{\"id\": \"a\", \"role\": \"r\", \"id\": \"b\"}";
    let reply = server.client().post_raw("/v1/register", &[], body);
    assert_eq!(reply.message(), "body: duplicate key at id");
}

#[test]
fn only_json_is_taken() {
    let server = TestServer::dev();
    let mut client = server.client();
    let mut post = |kind: &str, agent: &str| {
        let body = register(agent).to_string();
        client.post_raw("/v1/register", &[("content-type", kind)], body.as_bytes())
    };
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]
    {
        let reply = post(kind, "a");
        assert_eq!((reply.status, reply.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
        assert!(reply.message().contains(kind));
    }
    assert_eq!(post("application/json", "a").status, 200);
    assert_eq!(post("application/json; charset=utf-8", "b").status, 200);
}

#[test]
fn a_body_that_is_too_large_is_refused_by_what_it_declares() {
    let server = TestServer::dev();
    let mut client = server.client();
    let body = vec![b' '; 4 * MIB + 1];
    let reply = client.post_raw("/v1/record", &[], &body);
    assert_eq!((reply.status, reply.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
    assert!(reply.message().contains("4194304") && reply.message().contains("4194305"));
    // One that is far too large is not even read.
    let mut client = server.client();
    let head = client.head("POST", "/v1/record", &[("content-length", "99999999999")]);
    client.write(format!("{head}\r\n").as_bytes());
    assert_eq!(client.read().code(), "PAYLOAD_TOO_LARGE");
}

#[test]
fn a_body_that_is_too_large_is_refused_while_it_comes_in_chunks() {
    let server = TestServer::dev();
    let mut client = server.client();
    let head = client.head("POST", "/v1/record", &[("transfer-encoding", "chunked")]);
    client.write(format!("{head}\r\n").as_bytes());
    let mut chunk = format!("{MIB:x}\r\n").into_bytes();
    chunk.resize(chunk.len() + MIB, b' ');
    chunk.extend(b"\r\n");
    for _ in 0..5 {
        client.write(&chunk);
    }
    client.write(b"0\r\n\r\n");
    assert_eq!(client.read().code(), "PAYLOAD_TOO_LARGE");
}

#[test]
fn whoever_asks_before_sending_too_much_is_told_not_to() {
    let server = TestServer::dev();
    let mut client = server.client();
    let headers = [("content-length", "5000000"), ("expect", "100-continue")];
    let head = client.head("POST", "/v1/record", &headers);
    client.write(format!("{head}\r\n").as_bytes());
    assert_eq!(client.read().status, 413);
}

#[test]
fn the_largest_body_is_read_whole_and_judged_by_its_fields() {
    let server = TestServer::dev();
    let mut client = server.client();
    client.post("/v1/register", &register("a"));
    let reply = client.say("a", "/v1/record", &committed(&"x".repeat(3 * MIB)));
    assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_PAYLOAD"));
    assert!(reply.message().starts_with("payload.content"), "{}", reply.message());
    let reply = client.say("a", "/v1/record", &committed(&"x".repeat(MIB)));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let units = client.say("a", "/v1/attune", &attune()).json()["record"].clone();
    assert_eq!(units[0]["memory_unit"]["content"].as_str().unwrap().len(), MIB);
}

#[test]
fn many_large_bodies_at_one_time_wait_for_room_and_all_come_in() {
    let server = TestServer::dev();
    server.client().post("/v1/register", &register("a"));
    let payload = committed(&"x".repeat(MIB));
    std::thread::scope(|scope| {
        for _ in 0..96 {
            scope.spawn(|| {
                let reply = server.client().say("a", "/v1/record", &payload);
                assert_eq!(reply.status, 200, "{}", reply.text());
            });
        }
    });
}
