//! A receipt is the same in each of its forms.

use serde_json::json;

use super::facts::{as_json, signed};
use crate::{cbor, receipt::*};

#[test]
fn a_receipt_reads_the_same_as_json_as_resource_and_as_cbor() {
    let receipt = as_json(&signed());
    let resource = json!({"object": "receipt", "id": "receipt_1", "wire": {"payload": receipt}});
    let pretty = serde_json::to_vec_pretty(&receipt).unwrap();
    for (bytes, form) in [
        (canonical_bytes(&signed()).unwrap(), Form::Json),
        (pretty, Form::Json),
        (serde_json::to_vec(&resource).unwrap(), Form::Resource),
        (cbor::encode(&receipt).unwrap(), Form::Cbor),
    ] {
        let (read, found) = read_document(&bytes).unwrap();
        assert_eq!(found, form);
        assert_eq!(receipt_hash(&read), receipt_hash(&receipt), "{}", form.as_str());
        assert!(verify(&read, Trusted::default()).is_valid());
    }
}

#[test]
fn a_document_with_two_readings_or_none_is_refused() {
    let twice = br#"{"schema":"a","schema":"b"}"#;
    assert!(matches!(read_document(twice), Err(DocumentError::Json(_))));
    assert!(matches!(read_document(b""), Err(DocumentError::Json(_))));
    assert!(matches!(read_document(b"\xa1\x61a"), Err(DocumentError::Cbor(_))));
    let empty = br#"{"object":"receipt","wire":{}}"#;
    assert_eq!(read_document(empty), Err(DocumentError::NoPayload));
    let huge = vec![b' '; DOCUMENT_BYTES_MAX + 1];
    assert_eq!(read_document(&huge), Err(DocumentError::TooLarge(DOCUMENT_BYTES_MAX + 1)));
}

#[test]
fn the_canonical_bytes_of_a_receipt_are_pinned() {
    let text = String::from_utf8(canonical_bytes(&signed()).unwrap()).unwrap();
    insta::assert_snapshot!("signed_receipt", text);
}
