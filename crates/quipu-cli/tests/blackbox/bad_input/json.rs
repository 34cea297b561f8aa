//! Bodies that are no JSON, or JSON that two readers might read in two ways.

use super::victim::start;
use crate::support::{Message, finding, refused, scope, units_of};

#[test]
fn half_json_and_bodies_that_are_no_object_are_refused() {
    let v = start();
    let whole = Message::new("RECORD", "agent", finding("x")).envelope.to_string();
    for cut in (0..whole.len()).step_by(7) {
        refused(&v.post("/v1/record", &whole[..cut]), 400, "INVALID_PAYLOAD");
    }
    for body in ["null", "[]", "3", "\"text\"", "true", "{} {}", "{\"a\":1,}", "\u{feff}{}"] {
        for path in ["/v1/record", "/v1/attune", "/v1/register", "/v1/deregister", "/v1/detect"] {
            refused(&v.post(path, body), 400, "INVALID_PAYLOAD");
        }
    }
    v.unharmed(1);
}

#[test]
fn lone_surrogates_and_bytes_that_are_no_utf8_are_refused() {
    let v = start();
    let whole = Message::new("RECORD", "agent", finding("CONTENT")).envelope.to_string();
    for escape in [r"\ud800", r"\udfff", r"\ud83dx", r"\ude00\ud83d"] {
        let message = refused(
            &v.post("/v1/record", whole.replace("CONTENT", escape)),
            400,
            "INVALID_PAYLOAD",
        );
        assert!(message.contains("JSON"), "{message}");
    }
    let (before, after) = whole.split_once("CONTENT").unwrap();
    for bytes in [&b"\xff"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc3"] {
        let body = [before.as_bytes(), bytes, after.as_bytes()].concat();
        refused(&v.post("/v1/record", body), 400, "INVALID_PAYLOAD");
    }
    v.unharmed(1);
}

#[test]
fn duplicate_keys_huge_numbers_and_deep_nesting_are_refused() {
    let v = start();
    let whole = Message::new("RECORD", "agent", finding("x")).envelope.to_string();
    let twice = whole.replace("\"type\":\"finding\"", "\"type\":\"finding\",\"type\":\"decision\"");
    let message = refused(&v.post("/v1/record", twice), 400, "INVALID_PAYLOAD");
    assert!(message.contains("duplicate key") && message.contains("type"), "{message}");
    for (number, named) in [
        ("9007199254740993", "epoch"),
        ("123456789012345678901234567890", "epoch"),
        ("1e999", "column"),
        ("-1e999", "column"),
    ] {
        let body = whole.replace("\"epoch\":0", &format!("\"epoch\":{number}"));
        let message = refused(&v.post("/v1/record", body), 400, "INVALID_PAYLOAD");
        assert!(message.contains(named), "{number}: {message}");
    }
    for depth in [200, 1_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            refused(&v.post("/v1/record", &deep), 400, "INVALID_PAYLOAD");
            let inside = whole.replace("\"epoch\":0", &format!("\"epoch\":0,\"x\":{deep}"));
            refused(&v.post("/v1/record", inside), 400, "INVALID_PAYLOAD");
            refused(&v.post("/v1/record", open.repeat(depth)), 400, "INVALID_PAYLOAD");
        }
    }
    v.unharmed(1);
}

#[test]
fn any_real_text_is_read_back_as_it_was_sent() {
    let mut v = start();
    let texts = [
        "\u{0}NUL and \u{7f} and \u{1b}[31m",
        "\u{1F9F6} knots, \u{10FFFF}, \u{FFFF}, \u{FEFF}",
        "\u{202E}right to left\u{202C} e\u{301}",
        "\"quotes\" \\ back / slashes \r\n\u{2028}",
        "'; DROP TABLE commits; --",
    ];
    for text in texts {
        v.client.record("agent", finding(text));
    }
    let units = units_of(&v.client.attune("agent", scope(10)));
    for text in texts {
        assert_eq!(units.iter().filter(|unit| unit["content"] == text).count(), 1, "{text:?}");
    }
    v.unharmed(6);
}
