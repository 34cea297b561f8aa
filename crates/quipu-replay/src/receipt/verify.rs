//! Checks a receipt: its schema, its hash, its place in the chain, its signatures. Every finding has a name that
//! programs can rely on and a sentence for people; nothing is trusted because it is written in the receipt.

use serde_json::Value;

use quipu_wire::{harn::Sha256, json::timestamp::parse_ms};

use super::{
    check_export::Mismatch,
    key::{ReceiptKey, SIGNATURE_ALGORITHM},
    seal::{SealError, receipt_hash},
};
use crate::schema::{self, Breach};

/// What the one who checks brings along.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trusted<'a> {
    /// Keys whose signatures count. With any, at least one of them must have signed.
    pub keys: &'a [ReceiptKey],
    /// The hash of the receipt before, where it is known: `Some(None)` says that there is none.
    pub previous: Option<Option<Sha256>>,
    /// The root of the batch, where the server advertises one.
    pub merkle_root: Option<Sha256>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    #[error("schema: {0}")]
    Schema(Breach),
    #[error("canonical form: {0}")]
    NotCanonical(SealError),
    #[error("hash: the receipt states {stored}, but its content has {computed}")]
    HashDiffers { stored: String, computed: Sha256 },
    #[error("chain: the receipt names {stored} as the one before it, but that is {expected}")]
    PreviousDiffers { stored: String, expected: String },
    #[error("batch: the receipt states the root {stored}, but the batch has {expected}")]
    MerkleRootDiffers { stored: String, expected: Sha256 },
    #[error("signature {index}: is not by {key_id} over this receipt")]
    SignatureWrong {
        /// Its place among the signatures, from 0.
        index: usize,
        key_id: String,
    },
    #[error("signature {index}: is of {signed_at}, before the receipt was issued at {issued_at}")]
    SignedEarly {
        /// Its place among the signatures, from 0.
        index: usize,
        signed_at: String,
        issued_at: String,
    },
    #[error("signatures: none is by a trusted key")]
    NotSigned,
    #[error("export: {0}")]
    Export(Mismatch),
}

impl Finding {
    /// Its name, which does not change.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Schema(_) => "schema",
            Self::NotCanonical(_) => "not_canonical",
            Self::HashDiffers { .. } => "receipt_hash",
            Self::PreviousDiffers { .. } => "previous_receipt_hash",
            Self::MerkleRootDiffers { .. } => "merkle_root",
            Self::SignatureWrong { .. } => "signature",
            Self::SignedEarly { .. } => "signed_at",
            Self::NotSigned => "unsigned",
            Self::Export(_) => "export",
        }
    }

    /// Where it is in a document with the receipt in it.
    #[must_use]
    pub fn place(&self) -> String {
        let place = match self {
            Self::Schema(breach) => return format!("receipt{}", breach.path.replace('/', ".")),
            Self::Export(mismatch) => return mismatch.place.clone(),
            Self::SignatureWrong { index, .. } => format!("signatures[{index}]"),
            Self::SignedEarly { index, .. } => format!("signatures[{index}].signed_at"),
            Self::NotCanonical(_) => return "receipt".to_owned(),
            Self::HashDiffers { .. } => "chain.receipt_hash".to_owned(),
            Self::PreviousDiffers { .. } => "chain.previous_receipt_hash".to_owned(),
            Self::MerkleRootDiffers { .. } => "chain.merkle_root".to_owned(),
            Self::NotSigned => "signatures".to_owned(),
        };
        format!("receipt.{place}")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignatureState {
    Valid {
        key_id: String,
    },
    /// It is in the name of a trusted key, and that key did not make it.
    Wrong {
        key_id: String,
    },
    /// The key is not among the trusted ones; it proves nothing here.
    Unknown {
        key_id: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Everything that is wrong, in the order of the checks.
    pub findings: Vec<Finding>,
    pub computed_hash: Option<Sha256>,
    /// What was found out about each signature.
    pub signatures: Vec<SignatureState>,
}

impl Verdict {
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.findings.is_empty()
    }

    /// The first thing that is wrong, in words.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        self.findings.first().map(ToString::to_string)
    }

    /// How many signatures a trusted key made.
    #[must_use]
    pub fn valid_signatures(&self) -> usize {
        let valid = |state: &&SignatureState| matches!(state, SignatureState::Valid { .. });
        self.signatures.iter().filter(valid).count()
    }
}

#[must_use]
pub fn verify(receipt: &Value, trusted: Trusted<'_>) -> Verdict {
    let mut findings: Vec<Finding> =
        schema::check(receipt).into_iter().map(Finding::Schema).collect();
    let computed_hash = match receipt_hash(receipt) {
        Ok(hash) => Some(hash),
        Err(error) => {
            findings.push(Finding::NotCanonical(error));
            None
        }
    };
    if let Some(computed) = computed_hash {
        let stored = text_at(receipt, "/chain/receipt_hash");
        if stored != computed.to_string() {
            findings.push(Finding::HashDiffers { stored, computed });
        }
    }
    findings.extend(check_chain(receipt, trusted));
    let signatures = check_signatures(receipt, trusted.keys, computed_hash);
    for (index, state) in signatures.iter().enumerate() {
        if let SignatureState::Wrong { key_id } = state {
            findings.push(Finding::SignatureWrong { index, key_id: key_id.clone() });
        }
    }
    findings.extend(check_times(receipt));
    let verdict = Verdict { findings, computed_hash, signatures };
    if trusted.keys.is_empty() || verdict.valid_signatures() > 0 {
        return verdict;
    }
    let mut verdict = verdict;
    verdict.findings.push(Finding::NotSigned);
    verdict
}

fn check_chain(receipt: &Value, trusted: Trusted<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(previous) = trusted.previous {
        let expected = previous.map_or_else(|| "nothing".to_owned(), |hash| hash.to_string());
        let stored = text_at(receipt, "/chain/previous_receipt_hash");
        if stored != expected {
            findings.push(Finding::PreviousDiffers { stored, expected });
        }
    }
    if let Some(expected) = trusted.merkle_root {
        let stored = text_at(receipt, "/chain/merkle_root");
        if stored != expected.to_string() {
            findings.push(Finding::MerkleRootDiffers { stored, expected });
        }
    }
    findings
}

fn check_signatures(
    receipt: &Value,
    keys: &[ReceiptKey],
    hash: Option<Sha256>,
) -> Vec<SignatureState> {
    let signatures = receipt.get("signatures").and_then(Value::as_array);
    signatures.into_iter().flatten().map(|signature| judge(signature, keys, hash)).collect()
}

/// Nobody signs what is not issued yet.
fn check_times(receipt: &Value) -> Vec<Finding> {
    let issued_at = text_at(receipt, "/issued_at");
    let Some(issued) = parse_ms(&issued_at) else { return Vec::new() };
    let signatures = receipt.get("signatures").and_then(Value::as_array);
    let mut findings = Vec::new();
    for (index, signature) in signatures.into_iter().flatten().enumerate() {
        let Some(signed_at) = signature.get("signed_at").and_then(Value::as_str) else { continue };
        if parse_ms(signed_at).is_some_and(|signed| signed < issued) {
            let (signed_at, issued_at) = (signed_at.to_owned(), issued_at.clone());
            findings.push(Finding::SignedEarly { index, signed_at, issued_at });
        }
    }
    findings
}

fn judge(signature: &Value, keys: &[ReceiptKey], hash: Option<Sha256>) -> SignatureState {
    let member = |name: &str| signature.get(name).and_then(Value::as_str).unwrap_or_default();
    let key_id = member("key_id").to_owned();
    let named: Vec<&ReceiptKey> = keys.iter().filter(|key| key.key_id() == key_id).collect();
    if named.is_empty() {
        return SignatureState::Unknown { key_id };
    }
    let made = member("algorithm") == SIGNATURE_ALGORITHM
        && hash.is_some_and(|hash| named.iter().any(|key| key.accepts(&hash, member("signature"))));
    if made { SignatureState::Valid { key_id } } else { SignatureState::Wrong { key_id } }
}

/// The text at a place; null and absent are `nothing`.
fn text_at(receipt: &Value, pointer: &str) -> String {
    receipt.pointer(pointer).and_then(Value::as_str).unwrap_or("nothing").to_owned()
}
