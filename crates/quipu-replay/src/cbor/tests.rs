//! Published examples of RFC 8949, round trips, and that only one spelling is read.

use proptest::prelude::*;
use serde_json::{Value, json};

use quipu_wire::json::canon;

use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.bytes().map(|d| u8::try_from((d as char).to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn gives_the_bytes_of_rfc_8949_appendix_a() {
    for (value, expected) in [
        (json!(0), "00"),
        (json!(23), "17"),
        (json!(24), "1818"),
        (json!(1000), "1903e8"),
        (json!(1_000_000), "1a000f4240"),
        (json!(1_000_000_000_000_u64), "1b000000e8d4a51000"),
        (json!(-1), "20"),
        (json!(-100), "3863"),
        (json!(1.5), "f93e00"),
        (json!(3.4028234663852886e38), "fa7f7fffff"),
        (json!(1.1), "fb3ff199999999999a"),
        (json!(5.960464477539063e-8), "f90001"),
        (json!(0.00006103515625), "f90400"),
        (json!(-4.1), "fbc010666666666666"),
        (json!(true), "f5"),
        (json!(null), "f6"),
        (json!(""), "60"),
        (json!("\u{fc}"), "62c3bc"),
        (json!([1, [2, 3]]), "8201820203"),
        (json!({"a": 1, "b": [2, 3]}), "a26161016162820203"),
        (json!({"aa": 1, "b": 2}), "a2616202626161 01".replace(' ', "").as_str()),
    ]
    .map(|(value, text)| (value, text.to_owned()))
    {
        assert_eq!(hex(&encode(&value).unwrap()), expected, "{value}");
        assert_eq!(decode(&bytes(&expected)).unwrap(), value);
    }
}

#[test]
fn a_whole_number_is_an_integer_however_json_wrote_it() {
    assert_eq!(encode(&json!(2.0)), encode(&json!(2)));
    assert_eq!(encode(&json!(-0.0)), encode(&json!(0)));
    assert!(encode(&json!(1_u64 << 53)).is_err());
}

#[test]
fn refuses_every_other_spelling_and_says_where() {
    for (text, problem) in [
        ("", "the bytes end too early"),
        ("1817", "not in the fewest bytes"),
        ("190018", "not in the fewest bytes"),
        ("fb3ff8000000000000", "not in the fewest bytes"),
        ("fa3fc00000", "not in the fewest bytes"),
        ("f94000", "not in the fewest bytes"),
        ("f97e00", "a number that is not finite"),
        ("f97c00", "a number that is not finite"),
        ("9fff", "indefinite or reserved length"),
        ("7f6161ff", "indefinite or reserved length"),
        ("c074", "a kind of item that JSON does not have"),
        ("4161", "a kind of item that JSON does not have"),
        ("f7", "a kind of item that JSON does not have"),
        ("a2616201616101", "keys are doubled or out of order"),
        ("a2616101616101", "keys are doubled or out of order"),
        ("a10101", "a key that is not text"),
        ("61ff", "text is not UTF-8"),
        ("9bffffffffffffffff", "the bytes end too early"),
        ("7bffffffffffffffff", "the bytes end too early"),
        ("0000", "more bytes after the value"),
        ("1b0020000000000000", "integer outside -(2^53-1)..=2^53-1"),
        ("3b001fffffffffffff", "integer outside -(2^53-1)..=2^53-1"),
    ] {
        assert_eq!(decode(&bytes(text)).unwrap_err().problem, problem, "{text}");
    }
    let deep: String = "81".repeat(100);
    assert_eq!(decode(&bytes(&deep)).unwrap_err().problem, "nested too deeply");
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53) + 1..1_i64 << 53).prop_map(Value::from),
        any::<f32>().prop_map(|n| json!(n)),
        (-1e9..1e9).prop_map(|n: f64| json!(n)),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_as_the_same_canonical_json(value in any_value()) {
        prop_assume!(encode(&value).is_ok());
        let read = decode(&encode(&value).unwrap()).unwrap();
        prop_assert_eq!(canon::to_vec(&read).unwrap(), canon::to_vec(&value).unwrap());
    }

    #[test]
    fn bytes_are_read_only_if_they_would_be_written_so(bytes: Vec<u8>) {
        if let Ok(value) = decode(&bytes) {
            prop_assert_eq!(encode(&value).unwrap(), bytes);
        }
    }

    #[test]
    fn no_byte_can_be_changed_into_another_spelling(value in any_value(), at: prop::sample::Index, flip in 1_u8..) {
        prop_assume!(encode(&value).is_ok());
        let mut bytes = encode(&value).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(read) = decode(&bytes) {
            prop_assert_eq!(encode(&read).unwrap(), bytes);
        }
    }
}
