//! `quipu receipt`: checks receipts of Tasks and replays offline, without a server and without its data.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use quipu_replay::receipt::{
    DOCUMENT_BYTES_MAX, Finding, Form, ReceiptKey, SignatureState, Trusted, Verdict,
    check_document, read_document, receipt_hash, verify,
};
use quipu_wire::{harn::Sha256, json::canon};
use serde::Serialize;
use serde_json::Value;

use crate::ui::{
    failure::Failure,
    output::{self, count, harmless},
};

const ABOUT: &str = "\
Check receipts of Tasks and of replays, and exported Tasks against their receipts, offline.

Example:
  quipu receipt verify receipt.json --key 'key_1=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='";

const VERIFY: &str = "\
Check a receipt: its schema, its hash, its place in the chain, its signatures.

FILE is a receipt as JSON, the resource that the API answers, or deterministic CBOR; `-` is stdin. It may
also be an exported Task, which is then compared with its receipt: input, output, every event, every
answer, every Artifact. What differs is named by its place.
Without --key nothing is known of who signed, and the command says so; with it, one of the keys must
have signed. Exits 0, or 1 and names everything that is wrong.

Example:
  quipu receipt verify receipt.json
  quipu receipt verify replay.cbor --previous source.json --key 'key_1=11qYAYKxCrfVS...'";

/// The arguments of `quipu receipt`.
#[derive(Debug, Args)]
#[command(about = "Check receipts offline", long_about = ABOUT)]
pub(crate) struct ReceiptArgs {
    /// What to do with receipts.
    #[command(subcommand)]
    pub(crate) action: ReceiptAction,
}

/// What can be done with receipts.
#[derive(Debug, Subcommand)]
pub(crate) enum ReceiptAction {
    /// Check a receipt
    #[command(long_about = VERIFY)]
    Verify(VerifyArgs),
}

/// The arguments of `quipu receipt verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The receipt; `-` for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A key to trust, as the agent card advertises it; may be given several times
    #[arg(long, value_name = "KEY_ID=BASE64")]
    key: Vec<ReceiptKey>,
    /// The receipt before it in the chain: of a replay, that of its source
    #[arg(long, value_name = "FILE")]
    previous: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// What was found out, for programs.
#[derive(Debug, Serialize)]
struct Report {
    valid: bool,
    form: &'static str,
    /// Of an exported Task that holds, how much of it the receipt proves.
    #[serde(skip_serializing_if = "Option::is_none")]
    proven: Option<&'static str>,
    receipt_id: Option<String>,
    receipt_hash: Option<Sha256>,
    findings: Vec<FindingReport>,
    signatures: Vec<SignatureReport>,
}

#[derive(Debug, Serialize)]
struct FindingReport {
    name: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
struct SignatureReport {
    key_id: String,
    state: &'static str,
}

pub(crate) fn receipt(action: &ReceiptAction) -> Result<(), Failure> {
    match action {
        ReceiptAction::Verify(args) => check(args),
    }
}

fn check(args: &VerifyArgs) -> Result<(), Failure> {
    let Document { receipt, form, export } = read(&args.file)?;
    let previous = args.previous.as_deref().map(hash_of).transpose()?;
    let trusted = Trusted { keys: &args.key, previous: previous.map(Some), merkle_root: None };
    let mut verdict = verify(&receipt, trusted);
    let proven = match export.as_ref().map(check_document) {
        None => None,
        Some(Ok(proven)) => Some(proven.as_str()),
        Some(Err(mismatch)) => {
            verdict.findings.push(Finding::Export(mismatch));
            None
        }
    };
    let report = Report { proven, ..Report::new(&receipt, form, &verdict) };
    let text = match args.json {
        true => as_json(&report)?,
        false => as_text(args, &receipt, &report),
    };
    output::print(&text)?;
    match verdict.findings.first() {
        None => Ok(()),
        Some(_) if args.json => Err(Failure::reported()),
        Some(first) => Err(Failure::new(format!(
            "the receipt does not hold: {}",
            harmless(&first.to_string())
        ))),
    }
}

/// A receipt with what it came in.
struct Document {
    receipt: Value,
    form: &'static str,
    /// All of an exported Task.
    export: Option<Value>,
}

fn read(file: &Path) -> Result<Document, Failure> {
    let named = |what: &str, error: &dyn std::error::Error| {
        Failure::caused(format!("{} {what}", file.display()), error)
    };
    let mut bytes = Vec::new();
    // One byte more than is read, so that a file that is too large is told from one that just fits.
    let most = DOCUMENT_BYTES_MAX as u64 + 1;
    let taken = if file == Path::new("-") {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    taken.map_err(|error| named("cannot be read", &error))?;
    let (receipt, form) =
        read_document(&bytes).map_err(|error| named("is not a receipt", &error))?;
    let export = (form == Form::Export).then(|| canon::parse(&bytes)).transpose();
    let export = export.map_err(|error| named("is not an exported task", &error))?;
    Ok(Document { receipt, form: form.as_str(), export })
}

/// The hash of the receipt before, computed and not believed.
fn hash_of(file: &Path) -> Result<Sha256, Failure> {
    let Document { receipt, .. } = read(file)?;
    receipt_hash(&receipt)
        .map_err(|error| Failure::caused(format!("{} is not a receipt", file.display()), &error))
}

impl Report {
    fn new(receipt: &Value, form: &'static str, verdict: &Verdict) -> Self {
        let finding = |finding: &Finding| FindingReport {
            name: finding.name(),
            message: finding.to_string(),
        };
        let signature = |state: &SignatureState| {
            let (key_id, state) = match state {
                SignatureState::Valid { key_id } => (key_id, "valid"),
                SignatureState::Wrong { key_id } => (key_id, "wrong"),
                SignatureState::Unknown { key_id } => (key_id, "unknown_key"),
            };
            SignatureReport { key_id: key_id.clone(), state }
        };
        Self {
            valid: verdict.is_valid(),
            form,
            proven: None,
            receipt_id: receipt.get("receipt_id").and_then(Value::as_str).map(str::to_owned),
            receipt_hash: verdict.computed_hash,
            findings: verdict.findings.iter().map(finding).collect(),
            signatures: verdict.signatures.iter().map(signature).collect(),
        }
    }
}

fn as_json(report: &Report) -> Result<String, Failure> {
    serde_json::to_string_pretty(report)
        .map(|text| text + "\n")
        .map_err(|error| Failure::caused("cannot write the result", &error))
}

const fn words_of(proven: &'static str) -> &'static str {
    match proven.as_bytes() {
        b"everything" => "everything in the document",
        b"what_is_left" => "everything in the document; words of it were erased since",
        b"unsigned" => "that it is whole, and no more: nobody signed the receipt",
        _ => "the receipt's own words and the answers that it lists: it is of an older form",
    }
}

fn as_text(args: &VerifyArgs, receipt: &Value, report: &Report) -> String {
    let at = |pointer: &str| receipt.pointer(pointer).and_then(Value::as_str).unwrap_or("?");
    let mut rows = [
        ["receipt", at("/receipt_id")],
        ["about", at("/subject/id")],
        ["ended", at("/lifecycle/final_state")],
        ["issued", at("/issued_at")],
        ["issuer", at("/issuer/id")],
        ["form", report.form],
    ]
    .map(|row| row.map(harmless).to_vec())
    .to_vec();
    let mut row = |name: &str, value: String| rows.push(vec![name.to_owned(), harmless(&value)]);
    if let Some(hash) = &report.receipt_hash {
        row("hash", hash.to_string());
    }
    let chain = match (&args.previous, at("/chain/previous_receipt_hash")) {
        (_, "?") => "nothing before it".to_owned(),
        (None, before) => format!("{before}, not compared (no --previous)"),
        (Some(_), before) => before.to_owned(),
    };
    row("before", chain);
    if let Some(proven) = report.proven {
        row("proven", words_of(proven).to_owned());
    }
    for signature in &report.signatures {
        let state = match (signature.state, args.key.is_empty()) {
            ("unknown_key", true) => "not checked (no --key)",
            ("unknown_key", false) => "not by a key that was given",
            (state, _) => state,
        };
        row("signature", format!("{}: {state}", signature.key_id));
    }
    if report.signatures.is_empty() {
        row("signature", "none: nobody signed it".to_owned());
    }
    for finding in &report.findings {
        row("wrong", finding.message.clone());
    }
    let verdict = match (report.valid, args.key.is_empty()) {
        (true, true) if report.signatures.is_empty() => {
            "holds, but nobody signed it: whoever altered it could have sealed it again".to_owned()
        }
        (true, true) => "holds, whoever signed it".to_owned(),
        (true, false) => "holds, and a trusted key signed it".to_owned(),
        (false, _) => format!("does not hold: {}", count(report.findings.len() as u64, "finding")),
    };
    row("verdict", verdict);
    output::table(&rows)
}
