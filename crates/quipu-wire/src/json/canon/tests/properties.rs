//! What holds for every value: it survives writing and reading, its form is a fixed point, and it
//! is the form that an independent implementation gives.

use proptest::{collection, prelude::*, sample::select};
use serde_json::{Map, Value};

use crate::json::canon::{parse, to_string, to_vec};

const BORDER: i64 = (1 << 53) - 1;

/// Characters around every boundary that escaping and ordering care about, and any other.
fn text() -> impl Strategy<Value = String> {
    let edges = "\0\u{8}\t\n\u{1f} \"/09AZ\\az\u{7f}\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{fb33}\
                 \u{ffff}\u{10000}\u{1f600}\u{10ffff}";
    let edge = select(edges.chars().collect::<Vec<_>>());
    let character = prop_oneof![3 => edge, 1 => any::<char>()];
    collection::vec(character, 0..6).prop_map(String::from_iter)
}

/// Doubles that stay doubles: a whole number below 1e21 is written as an integer.
fn float() -> impl Strategy<Value = f64> {
    let any_bits = any::<u64>().prop_map(f64::from_bits);
    prop_oneof![any_bits, 0.0..1.0, -1e6..1e6]
        .prop_filter("is a float when read back", |float: &f64| {
            float.is_finite() && (float.fract() != 0.0 || float.abs() >= 1e21)
        })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-BORDER..=BORDER).prop_map(Value::from),
        (-9_i64..=9).prop_map(Value::from),
        float().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        let member = (text(), inner.clone());
        prop_oneof![
            collection::vec(inner, 0..8).prop_map(Value::from),
            collection::vec(member, 0..8)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_value_back(value in value()) {
        prop_assert_eq!(parse(&to_vec(&value).unwrap()).unwrap(), value);
    }

    #[test]
    fn the_canonical_form_is_its_own_canonical_form(value in value()) {
        let once = to_vec(&value).unwrap();
        prop_assert_eq!(to_vec(&parse(&once).unwrap()).unwrap(), once);
    }

    #[test]
    fn the_spelling_of_a_text_does_not_reach_its_canonical_form(value in value()) {
        let pretty = serde_json::to_vec_pretty(&value).unwrap();
        prop_assert_eq!(to_vec(&parse(&pretty).unwrap()), to_vec(&value));
    }

    #[test]
    fn an_independent_implementation_agrees(value in value()) {
        let theirs = serde_json_canonicalizer::to_string(&value).unwrap();
        prop_assert_eq!(to_string(&value).unwrap(), theirs);
    }

    #[test]
    fn an_independent_implementation_agrees_on_every_double(bits: u64) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        let theirs = serde_json_canonicalizer::to_string(&double).unwrap();
        let ours = to_string(&double).unwrap();
        prop_assert_eq!(&ours, &theirs);
        let without_minus_zero = double + 0.0;
        prop_assert_eq!(ours.parse::<f64>().unwrap().to_bits(), without_minus_zero.to_bits());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = parse(&bytes) {
            prop_assert!(to_vec(&value).is_ok());
        }
    }

    #[test]
    fn no_text_of_json_characters_makes_the_reader_panic(
        characters in collection::vec(select(b"[]{}:,\"\\u0-19.eE+ tnfalsr".to_vec()), 0..48),
    ) {
        if let Ok(value) = parse(&characters) {
            prop_assert!(to_vec(&value).is_ok());
        }
    }
}
