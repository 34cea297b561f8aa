//! No change of a receipt goes unseen, and each finding has its name.

use proptest::prelude::*;
use serde_json::{Value, json};

use quipu_wire::harn::Sha256;

use super::facts::{as_json, digest, signed, signer};
use crate::receipt::*;

fn names(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(Finding::name).collect()
}

#[test]
fn a_signed_receipt_holds_with_its_key_and_without_any() {
    let receipt = as_json(&signed());
    let keys = [signer().public().clone()];
    let verdict = verify(&receipt, Trusted { keys: &keys, ..Trusted::default() });
    assert!(verdict.is_valid(), "{verdict:?}");
    assert_eq!(verdict.valid_signatures(), 1);
    let nobody = verify(&receipt, Trusted::default());
    assert!(nobody.is_valid());
    assert_eq!(nobody.signatures, [SignatureState::Unknown { key_id: "key_1".to_owned() }]);
}

#[test]
fn a_receipt_that_no_trusted_key_signed_is_not_believed() {
    let mut receipt = as_json(&signed());
    let other = ReceiptSigner::from_seed("key_2", &[8; 32]).public().clone();
    let verdict = verify(&receipt, Trusted { keys: &[other], ..Trusted::default() });
    assert_eq!(names(&verdict), ["unsigned"]);
    let impostor = ReceiptSigner::from_seed("key_1", &[8; 32]).public().clone();
    let verdict = verify(&receipt, Trusted { keys: &[impostor], ..Trusted::default() });
    assert_eq!(names(&verdict), ["signature", "unsigned"]);
    receipt["signatures"] = json!([]);
    let keys = [signer().public().clone()];
    let verdict = verify(&receipt, Trusted { keys: &keys, ..Trusted::default() });
    assert_eq!(names(&verdict), ["unsigned"]);
}

#[test]
fn the_receipt_before_and_the_batch_are_compared_where_they_are_known() {
    let receipt = as_json(&signed());
    let with =
        |previous, merkle_root| verify(&receipt, Trusted { keys: &[], previous, merkle_root });
    assert!(with(Some(None), None).is_valid(), "it is the first");
    assert_eq!(names(&with(Some(Some(digest('4'))), None)), ["previous_receipt_hash"]);
    assert_eq!(names(&with(None, Some(digest('4')))), ["merkle_root"]);
}

#[test]
fn a_receipt_without_its_hash_breaks_the_schema_and_the_hash() {
    let mut receipt = as_json(&signed());
    receipt["chain"].as_object_mut().unwrap().remove("receipt_hash");
    let verdict = verify(&receipt, Trusted::default());
    assert_eq!(names(&verdict), ["schema", "receipt_hash"]);
    assert_eq!(verdict.reason().unwrap(), "schema: /chain/receipt_hash: is required");
}

#[test]
fn what_is_no_receipt_at_all_is_found_out_without_a_panic() {
    for value in [json!(null), json!([]), json!({}), json!({"chain": 3, "signatures": 4})] {
        assert!(!verify(&value, Trusted::default()).is_valid(), "{value}");
    }
}

#[test]
fn keys_are_read_back_and_bad_ones_refused() {
    let key = signer().public().clone();
    assert_eq!(key.to_string().parse(), Ok(key.clone()));
    assert_eq!(format!("key_1=base64:{}", key.material()).parse(), Ok(key));
    assert!(format!("{:?}", signer()).starts_with("ReceiptSigner(key_1="));
    for bad in ["", "key_1", "=AAAA", "key_1=", "key_1=AAAA", "key_1=!!"] {
        assert!(bad.parse::<ReceiptKey>().is_err(), "{bad}");
    }
    let weak = format!("key_1={}", quipu_wire::json::base64::encode(&[0; 32]));
    assert_eq!(weak.parse::<ReceiptKey>(), Err(KeyError::Weak { key_id: "key_1".to_owned() }));
}

#[test]
fn nobody_signs_a_receipt_before_it_is_issued() {
    let receipt = as_json(&signed());
    for (at, holds) in [
        ("2026-05-01T08:00:09.25Z", true),
        ("2026-05-01T10:00:09.25+02:00", true),
        ("2027-01-01T00:00:00Z", true),
        ("2026-05-01T08:00:09.249Z", false),
        ("1999-01-01T00:00:00Z", false),
    ] {
        let mut other = receipt.clone();
        other["signatures"][0]["signed_at"] = json!(at);
        let names: Vec<_> =
            verify(&other, Trusted::default()).findings.iter().map(Finding::name).collect();
        assert_eq!(names.is_empty(), holds, "{at}: {names:?}");
        assert!(holds || names == ["signed_at"], "{names:?}");
    }
}

/// Every place of a value, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(at.to_owned())
        }
    }
}

#[test]
fn no_leaf_of_a_signed_receipt_can_be_changed_unseen() {
    let receipt = as_json(&signed());
    let keys = [signer().public().clone()];
    let mut leaves = Vec::new();
    places(&receipt, "", &mut leaves);
    assert!(leaves.len() > 40);
    for leaf in &leaves {
        let mut changed = receipt.clone();
        let place = changed.pointer_mut(leaf).unwrap();
        *place = match &*place {
            Value::String(text) => json!(format!("{text}x")),
            Value::Number(_) => json!(4711),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => json!({}),
        };
        assert!(
            !verify(&changed, Trusted { keys: &keys, ..Trusted::default() }).is_valid(),
            "{leaf}"
        );
    }
}

proptest! {
    #[test]
    fn any_signature_over_another_hash_is_refused(said: Vec<u8>, seed: [u8; 32]) {
        let signer = ReceiptSigner::from_seed("k", &seed);
        let hash = Sha256::of(&said);
        let signature = signer.sign(&hash, None).signature;
        prop_assert!(signer.public().accepts(&hash, &signature));
        prop_assert!(!signer.public().accepts(&Sha256::of(b"other"), &signature));
    }
}
