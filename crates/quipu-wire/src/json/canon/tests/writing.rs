//! What each kind of value becomes, and what has no canonical form.

use std::collections::BTreeMap;

use serde::{
    Serialize, Serializer,
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::{Value, json, value::RawValue};

use crate::json::canon::{CanonError, MAX_DEPTH, ParseError, to_string, to_vec};

const BORDER: i64 = (1 << 53) - 1;

fn check<T: Serialize + ?Sized>(value: &T, canonical: &str) {
    assert_eq!(to_string(value).unwrap(), canonical);
}

fn refused<T: Serialize + ?Sized>(value: &T) -> CanonError {
    to_vec(value).unwrap_err()
}

/// An object whose members are handed over exactly as listed.
struct Members<K, V>(Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Members<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(u8),
    Tuple(u8, bool),
    Struct { z: u8, a: u8 },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tagged {
    Said { text: &'static str, again: bool },
    Left,
    Wrapped(BTreeMap<&'static str, u8>),
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Flattened {
    zeta: u8,
    #[serde(flatten)]
    rest: BTreeMap<&'static str, u8>,
}

#[test]
fn writes_struct_members_in_key_order_at_every_level() {
    #[derive(Serialize)]
    struct Inner {
        y: Option<u8>,
        x: Vec<u8>,
    }
    #[derive(Serialize)]
    struct Outer {
        zeta: Inner,
        beta: (),
        alpha: Inner,
    }
    let outer = Outer {
        zeta: Inner { y: None, x: vec![] },
        beta: (),
        alpha: Inner { y: Some(7), x: vec![1, 2] },
    };
    check(&outer, r#"{"alpha":{"x":[1,2],"y":7},"beta":null,"zeta":{"x":[],"y":null}}"#);
}

#[test]
fn writes_enums_as_serde_json_shapes_them() {
    check(&Shape::Unit, r#""Unit""#);
    check(&Shape::Newtype(1), r#"{"Newtype":1}"#);
    check(&Shape::Tuple(1, true), r#"{"Tuple":[1,true]}"#);
    check(&Shape::Struct { z: 1, a: 2 }, r#"{"Struct":{"a":2,"z":1}}"#);
}

#[test]
fn writes_internally_tagged_enums_with_the_tag_in_key_order() {
    let said = Tagged::Said { text: "hi", again: false };
    check(&said, r#"{"again":false,"text":"hi","type":"said"}"#);
    check(&Tagged::Left, r#"{"type":"left"}"#);
    let wrapped = Tagged::Wrapped(BTreeMap::from([("a", 1), ("z", 2)]));
    check(&wrapped, r#"{"a":1,"type":"wrapped","z":2}"#);
}

#[test]
fn writes_flattened_members_among_the_others() {
    let value = Flattened { zeta: 1, rest: BTreeMap::from([("alpha", 2), ("zz", 3)]) };
    check(&value, r#"{"alpha":2,"zeta":1,"zz":3}"#);
}

#[test]
fn refuses_a_flattened_member_that_repeats_a_field() {
    let value = Flattened { zeta: 1, rest: BTreeMap::from([("zeta", 2)]) };
    assert_eq!(refused(&value), CanonError::DuplicateKey { key: "zeta".to_owned() });
}

#[test]
fn writes_scalars_tuples_and_empty_containers() {
    check(&('é', true, Unit, None::<u8>, Some("x")), r#"["é",true,null,null,"x"]"#);
    check(&json!({"a": [], "b": {}}), r#"{"a":[],"b":{}}"#);
    check("", r#""""#);
    check(&i128::from(BORDER), "9007199254740991");
}

#[test]
fn widens_a_single_precision_float_before_writing_it() {
    check(&0.1_f32, "0.10000000149011612");
    check(&-0.0_f32, "0");
}

#[test]
fn escapes_only_what_must_be_escaped_and_shortly() {
    check("\u{8}\t\n\u{c}\r\"\\", r#""\b\t\n\f\r\"\\""#);
    check("\0\u{b}\u{1f}", r#""\u0000\u000b\u001f""#);
    check("/<\u{7f}\u{2028}é😀", "\"/<\u{7f}\u{2028}é😀\"");
    check("plain\nplain", r#""plain\nplain""#);
}

#[test]
fn sorts_supplementary_characters_before_the_end_of_the_basic_plane() {
    let keys = ["\u{ffff}", "\u{10000}", "\u{e000}", "\u{10ffff}", "\u{d7ff}", "z", ""];
    let members = Members(keys.iter().map(|key| (key, 0)).collect());
    let sorted = ["", "z", "\u{d7ff}", "\u{10000}", "\u{10ffff}", "\u{e000}", "\u{ffff}"];
    let expected: Vec<_> = sorted.iter().map(|key| format!("\"{key}\":0")).collect();
    check(&members, &format!("{{{}}}", expected.join(",")));
}

#[test]
fn sorts_keys_by_what_they_mean_and_not_by_their_escapes() {
    let members =
        Members(vec![("\\", 1), ("[", 2), ("\n", 3), ("!", 4), ("\"", 5), ("ab", 6), ("a", 7)]);
    check(&members, r#"{"\n":3,"!":4,"\"":5,"[":2,"\\":1,"a":7,"ab":6}"#);
}

#[test]
fn accepts_integers_up_to_the_border_and_refuses_those_beyond() {
    check(&BORDER, "9007199254740991");
    check(&-BORDER, "-9007199254740991");
    let beyond = |value: &str| CanonError::IntegerTooLarge { value: value.to_owned() };
    assert_eq!(refused(&(BORDER + 1)), beyond("9007199254740992"));
    assert_eq!(refused(&(-BORDER - 1)), beyond("-9007199254740992"));
    assert_eq!(refused(&[u64::MAX]), beyond("18446744073709551615"));
    assert_eq!(refused(&json!({"a": i64::MIN})), beyond("-9223372036854775808"));
    assert_eq!(refused(&u128::MAX), beyond(&u128::MAX.to_string()));
    assert_eq!(refused(&i128::MIN), beyond(&i128::MIN.to_string()));
}

#[test]
fn refuses_numbers_that_are_not_finite_however_deep_they_are() {
    let nan = CanonError::NotFinite { value: "NaN" };
    assert_eq!(refused(&[[f64::NAN]]), nan);
    assert_eq!(refused(&BTreeMap::from([("a", Some(f32::NAN))])), nan);
    let minus = CanonError::NotFinite { value: "-Infinity" };
    assert_eq!(refused(&Members(vec![("b", 1.0), ("a", f64::NEG_INFINITY)])), minus);
}

/// Arrays around each other, innermost empty.
struct Nested(usize);

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut array = serializer.serialize_seq(None)?;
        if self.0 > 1 {
            array.serialize_element(&Self(self.0 - 1))?;
        }
        array.end()
    }
}

#[test]
fn accepts_the_deepest_nesting_and_refuses_one_level_more() {
    let brackets = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
    check(&Nested(MAX_DEPTH), &brackets);
    assert_eq!(refused(&Nested(MAX_DEPTH + 1)), CanonError::TooDeep);
}

#[test]
fn counts_an_enum_variant_as_a_level_and_gives_it_back() {
    #[derive(Serialize)]
    enum Wrap {
        Of(Nested),
    }
    assert!(to_vec(&Wrap::Of(Nested(MAX_DEPTH - 1))).is_ok());
    assert_eq!(refused(&Wrap::Of(Nested(MAX_DEPTH))), CanonError::TooDeep);
    let siblings: Vec<_> = (0..2 * MAX_DEPTH).map(|_| Shape::Tuple(1, true)).collect();
    assert!(to_vec(&siblings).is_ok());
}

#[test]
fn refuses_a_key_given_twice_side_by_side_or_apart() {
    let twice = CanonError::DuplicateKey { key: "a".to_owned() };
    assert_eq!(refused(&Members(vec![("a", 1), ("a", 1)])), twice);
    assert_eq!(refused(&[Members(vec![("a", 1), ("b", 2), ("a", 3)])]), twice);
}

#[test]
fn takes_strings_characters_and_unit_variants_as_keys() {
    check(&Members(vec![('b', 1), ('a', 2)]), r#"{"a":2,"b":1}"#);
    check(&Members(vec![(Shape::Unit, 1)]), r#"{"Unit":1}"#);
}

#[test]
fn refuses_keys_that_are_not_strings() {
    let not_string = |kind| CanonError::KeyNotString { kind };
    assert_eq!(refused(&Members(vec![(1, 1)])), not_string("an integer"));
    assert_eq!(refused(&Members(vec![(true, 1)])), not_string("a boolean"));
    assert_eq!(refused(&Members(vec![((), 1)])), not_string("null"));
    assert_eq!(refused(&Members(vec![([1], 1)])), not_string("an array"));
    assert_eq!(refused(&Members(vec![(Shape::Newtype(1), 1)])), not_string("an object"));
}

#[test]
fn refuses_bytes() {
    struct Blob;
    impl Serialize for Blob {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(b"blob")
        }
    }
    assert_eq!(refused(&[Blob]), CanonError::Bytes);
}

#[test]
fn refuses_a_map_that_gives_no_value_for_its_key() {
    struct KeyOnly;
    impl Serialize for KeyOnly {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_key("a")?;
            map.end()
        }
    }
    let reason = "a map ended where a value was due".to_owned();
    assert_eq!(refused(&KeyOnly), CanonError::Custom { reason });
}

#[derive(Serialize)]
struct Carrier {
    z: Box<RawValue>,
    a: u8,
}

fn carrying(json: &str) -> Carrier {
    Carrier { z: RawValue::from_string(json.to_owned()).unwrap(), a: 1 }
}

#[test]
fn writes_raw_json_in_canonical_form() {
    let raw = carrying(r#" { "b" : 1.0, "\u0061" : [ 1e1 , "\u0041" ] } "#);
    check(&raw, r#"{"a":1,"z":{"a":[10,"A"],"b":1}}"#);
}

#[test]
fn refuses_raw_json_that_is_not_strict() {
    let path = "b".to_owned();
    let twice = carrying(r#"{"b":1,"b":2}"#);
    assert_eq!(refused(&twice), CanonError::Raw(ParseError::DuplicateKey { path }));
    let path = "$".to_owned();
    let large = carrying("9007199254740992");
    assert_eq!(refused(&large), CanonError::Raw(ParseError::IntegerTooLarge { path }));
}

#[test]
fn counts_the_levels_around_raw_json() {
    let deepest = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
    assert_eq!(refused(&carrying(&deepest)), CanonError::TooDeep);
    assert!(to_vec(&carrying(&deepest[1..deepest.len() - 1])).is_ok());
}

#[test]
fn does_not_take_a_clients_key_for_raw_json() {
    let disguised = json!({"$serde_json::private::RawValue": "{\"b\": 1}"});
    let Value::Object(_) = &disguised else { panic!("{disguised:?} is not an object") };
    check(&disguised, r#"{"$serde_json::private::RawValue":"{\"b\": 1}"}"#);
}
