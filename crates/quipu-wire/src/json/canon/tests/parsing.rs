//! What the strict reader takes, and how it names what it refuses.

use serde_json::{Value, json};

use crate::json::canon::{MAX_DEPTH, ParseError, parse, to_string};

fn refused(text: &str) -> ParseError {
    parse(text.as_bytes()).unwrap_err()
}

fn duplicate(path: &str) -> ParseError {
    ParseError::DuplicateKey { path: path.to_owned() }
}

fn integer(path: &str) -> ParseError {
    ParseError::IntegerTooLarge { path: path.to_owned() }
}

fn syntax(text: &[u8]) -> (usize, usize, String) {
    match parse(text) {
        Err(ParseError::Syntax { line, column, reason }) => (line, column, reason),
        other => panic!("{:?} gave {other:?}", String::from_utf8_lossy(text)),
    }
}

#[test]
fn reads_every_kind_of_value() {
    let text = r#" {"a":[null,true,-1,2,0.5,"\ud83d\ude00"],"b":{}} "#;
    let value = json!({"a": [null, true, -1, 2, 0.5, "😀"], "b": {}});
    assert_eq!(parse(text.as_bytes()), Ok(value));
}

#[test]
fn names_the_path_of_a_duplicate_key() {
    assert_eq!(refused(r#"{"a":1,"a":1}"#), duplicate("a"));
    let text = r#"{"payload":{"intent":{"purpose":"x","other":1,"purpose":"x"}}}"#;
    assert_eq!(refused(text), duplicate("payload.intent.purpose"));
    assert_eq!(refused(r#"{"items":[0,[{"k":1,"k":2}]]}"#), duplicate("items[1][0].k"));
    assert_eq!(refused(text).to_string(), "duplicate key at payload.intent.purpose");
}

#[test]
fn refuses_a_duplicate_key_that_hides_behind_an_escape() {
    assert_eq!(refused(r#"{"a":1,"\u0061":2}"#), duplicate("a"));
    assert_eq!(refused(r#"{"\ud83d\ude00":1,"😀":2}"#), duplicate(r#"["😀"]"#));
}

#[test]
fn takes_the_same_key_in_different_objects() {
    assert!(parse(br#"{"a":{"a":[{"a":1},{"a":1}]}}"#).is_ok());
}

#[test]
fn quotes_the_keys_that_would_make_a_path_ambiguous() {
    assert_eq!(refused(r#"{"a.b":{"":{"x":1,"x":1}}}"#), duplicate(r#"["a.b"][""].x"#));
}

#[test]
fn cuts_a_path_that_a_client_made_long() {
    let key = "k".repeat(10_000);
    let ParseError::DuplicateKey { path } = refused(&format!(r#"{{"{key}":1,"{key}":1}}"#)) else {
        panic!("a duplicate key was expected");
    };
    assert!(path.len() < 300, "{} bytes", path.len());
    assert!(path.ends_with('…'), "{path}");
}

#[test]
fn reads_integers_up_to_the_border_and_refuses_those_beyond() {
    let border = parse(b"[9007199254740991,-9007199254740991]");
    assert_eq!(border, Ok(json!([9_007_199_254_740_991_i64, -9_007_199_254_740_991_i64])));
    for beyond in [
        "9007199254740992",
        "-9007199254740992",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "1000000000000000000000000000000",
    ] {
        assert_eq!(refused(beyond), integer("$"), "{beyond}");
        assert_eq!(refused(&format!(r#"{{"n":[1.5,"2",{beyond}]}}"#)), integer("n[2]"), "{beyond}");
    }
}

#[test]
fn finds_the_spelling_of_a_number_behind_strings_that_look_like_numbers() {
    let text = r#"{"1e5\"2":"\\","3":[-4,5e0,"6"],"7":1e30,"8":18446744073709551616}"#;
    assert_eq!(refused(text), integer("8"));
    let read = parse(br#"{"1":"2.5","\\\"3":[0.25,"4e4",1e30]}"#);
    assert_eq!(read, Ok(json!({"1": "2.5", "\\\"3": [0.25, "4e4", 1e30]})));
}

#[test]
fn takes_large_numbers_whose_canonical_form_is_no_integer() {
    assert_eq!(parse(b"1e300"), Ok(json!(1e300)));
    assert_eq!(parse(b"1.7976931348623157e308"), Ok(json!(f64::MAX)));
}

#[test]
fn refuses_a_number_whose_canonical_form_it_would_refuse() {
    for text in ["9007199254740992.0", "1e20", "-1e20"] {
        assert_eq!(refused(text), integer("$"), "{text}");
    }
}

#[test]
fn reads_the_double_that_is_nearest_to_the_text() {
    // `serde_json` alone misses these by one unit in the last place unless `float_roundtrip` is on.
    for text in ["0.9073038322028689", "333333333.33333329", "9.999999999999997e22", "1.2345e-300"]
    {
        let nearest: f64 = text.parse().unwrap();
        assert_eq!(parse(text.as_bytes()), Ok(json!(nearest)), "{text}");
    }
}

#[test]
fn reads_minus_zero_as_zero() {
    assert_eq!(parse(b"[-0,0]"), Ok(json!([0, 0])));
    assert_eq!(to_string(&parse(b"-0.0").unwrap()), Ok("0".to_owned()));
}

#[test]
fn refuses_numbers_that_overflow_to_infinity() {
    for text in ["1e309", "-1e309", "[1e999999999999]", &("9".repeat(400) + ".0")] {
        assert_eq!(syntax(text.as_bytes()).2, "number out of range", "{text}");
    }
}

#[test]
fn reads_the_deepest_nesting_and_refuses_one_level_more() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
    let path = "[0]".repeat(MAX_DEPTH);
    assert_eq!(refused(&nested(MAX_DEPTH + 1)), ParseError::TooDeep { path: path.clone() });
    assert_eq!(refused(&"[".repeat(100_000)), ParseError::TooDeep { path });
}

#[test]
fn counts_objects_and_arrays_alike_as_levels() {
    let nested = |levels: usize, core: &str| {
        r#"{"a":["#.repeat(levels / 2) + core + &"]}".repeat(levels / 2)
    };
    assert!(parse(nested(MAX_DEPTH, "1").as_bytes()).is_ok());
    let path = ["a[0]"; MAX_DEPTH / 2].join(".");
    assert_eq!(refused(&nested(MAX_DEPTH, "{}")), ParseError::TooDeep { path });
}

#[test]
fn says_line_column_and_reason_where_the_text_is_not_json() {
    let expected = (2, 8, "expected value".to_owned());
    assert_eq!(syntax(b"{\n  \"a\": }"), expected);
    let ParseError::Syntax { .. } = refused("{'a':1}") else { panic!("not a syntax error") };
    assert_eq!(refused("[1,\n]").to_string(), "invalid JSON at line 2 column 1: trailing comma");
}

#[test]
fn refuses_what_is_not_exactly_one_json_text() {
    for text in [
        "",
        " ",
        "{} {}",
        "1 2",
        "null,",
        "[1,]",
        "{\"a\":1,}",
        "nul",
        "NaN",
        "Infinity",
        "01",
        "+1",
        "1.",
        ".5",
        "'a'",
        "\"\t\"",
        "\"\\x\"",
        "// a\n1",
        "{1:2}",
        "\"open",
        "[1",
    ] {
        let ParseError::Syntax { .. } = refused(text) else { panic!("{text:?} was not refused") };
    }
}

#[test]
fn refuses_invalid_utf8_and_lone_surrogates() {
    for text in [
        b"\"\xff\"".as_slice(),
        b"\"\xc0\x80\"",
        b"\"\xed\xa0\x80\"",
        b"{\"\xe2\x82\":1}",
        b"[\xff]",
        br#""\ud800""#,
        br#""\udc00""#,
        br#""\ud800\u0041""#,
        br#"{"\ud800":1}"#,
    ] {
        syntax(text);
    }
}

#[test]
fn refuses_a_byte_order_mark_and_says_so() {
    let expected = (1, 1, "byte order mark before the value".to_owned());
    assert_eq!(syntax(b"\xEF\xBB\xBF{}"), expected);
}

#[test]
fn reads_a_key_that_serde_json_reserves_as_any_other() {
    let text = br#"{"$serde_json::private::RawValue":"[1]"}"#;
    let Ok(Value::Object(members)) = parse(text) else { panic!("it is an object") };
    assert_eq!(members.get("$serde_json::private::RawValue"), Some(&json!("[1]")));
}
