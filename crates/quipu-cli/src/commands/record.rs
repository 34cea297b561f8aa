//! `quipu record`: one memory unit from the command line.

use std::io::Read;

use clap::{Args, builder::PossibleValuesParser};
use quipu_wire::{
    akashik::{MemoryType, Operation, RecordResponse, RelationType},
    limits::REQUEST_BYTES_MAX,
};
use serde_json::{Map, Value, json};

use crate::{
    args::client_args::ServerArgs,
    ui::{failure::Failure, output},
};

const ABOUT: &str = "\
Record a memory unit: something the team should know, why it is recorded, and how sure you are.

A committed unit needs --confidence and --reasoning; a --draft needs neither. When the command
returns, the unit is on stable storage.

Example:
  quipu record --agent ada --role researcher --type finding --purpose 'choose a database' \\
    --confidence 0.9 --reasoning 'measured on two machines' --evidence bench/2026-03.csv \\
    'SQLite syncs 240,000 events a second in groups of 256'

A correction that replaces an earlier unit, read from a file:
  quipu record --agent ada --type correction --purpose 'fix the figure' --confidence 0.95 \\
    --reasoning 'measured again' --relation supersedes:mem-01ab - < note.txt";

const AFTER: &str = "\
The same over HTTP:
  curl -s http://127.0.0.1:7070/v1/record -H \"Authorization: Bearer $QUIPU_KEY\" \\
    -H 'Akashik-Agent: ada' -H 'Content-Type: application/json' \\
    -d '{\"type\": \"finding\", \"content\": \"SQLite is fast enough\",
         \"intent\": {\"purpose\": \"choose a database\"},
         \"confidence\": {\"score\": 0.9, \"reasoning\": \"measured twice\"}}'";

/// The arguments of `quipu record`.
#[derive(Debug, Args)]
#[command(about = "Record a memory unit", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct RecordArgs {
    /// The knowledge in words; `-` reads it from stdin
    #[arg(value_name = "CONTENT")]
    content: String,
    /// What kind of knowledge it is
    #[arg(long = "type", value_name = "TYPE", value_parser = types())]
    kind: String,
    /// Why it is recorded
    #[arg(long, value_name = "TEXT")]
    purpose: String,
    /// The task that it belongs to
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The question that it answers
    #[arg(long, value_name = "TEXT")]
    question: Option<String>,
    /// How sure you are, from 0 to 1
    #[arg(long, value_name = "SCORE")]
    confidence: Option<f64>,
    /// Why you are that sure
    #[arg(long, value_name = "TEXT")]
    reasoning: Option<String>,
    /// Evidence for it; may be repeated
    #[arg(long, value_name = "TEXT")]
    evidence: Vec<String>,
    /// An assumption behind it; may be repeated
    #[arg(long = "assumption", value_name = "TEXT")]
    assumptions: Vec<String>,
    /// A link to another unit, such as supersedes:mem-01ab; may be repeated
    #[arg(long = "relation", value_name = "KIND:UNIT", value_parser = relation)]
    relations: Vec<(RelationType, String)>,
    /// Record a draft, which needs no confidence
    #[arg(long)]
    draft: bool,
    /// Register the agent with this role first, if it is not registered
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// Your own id for this message: sent twice, it is recorded once
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

fn types() -> PossibleValuesParser {
    PossibleValuesParser::new(MemoryType::ALL.iter().map(|kind| kind.as_str()))
}

fn relation(text: &str) -> Result<(RelationType, String), String> {
    let (kind, unit) = text.split_once(':').ok_or("write it as KIND:UNIT")?;
    let kind = RelationType::parse(kind)
        .ok_or_else(|| format!("{kind:?} is not one of {}", RelationType::WORDS.trim_end()))?;
    if unit.is_empty() {
        return Err("the unit's id is missing after the colon".to_owned());
    }
    Ok((kind, unit.to_owned()))
}

pub(crate) async fn record(mut args: RecordArgs) -> Result<(), Failure> {
    if args.content == "-" {
        args.content = read_stdin()?;
    }
    let speaker = args.server.connect(args.message_id.as_deref())?;
    let raw =
        speaker.post_registered(args.role.as_deref(), Operation::Record, &payload(&args)).await?;
    args.server.show(&raw, render)
}

fn read_stdin() -> Result<String, Failure> {
    let mut content = String::new();
    let most = u64::try_from(REQUEST_BYTES_MAX).unwrap_or(u64::MAX);
    std::io::stdin()
        .take(most.saturating_add(1))
        .read_to_string(&mut content)
        .map_err(|error| Failure::caused("cannot read the content from stdin", &error))?;
    Ok(content.trim_end_matches(['\n', '\r']).to_owned())
}

fn payload(args: &RecordArgs) -> Value {
    let mut intent = json!({"purpose": args.purpose});
    put(&mut intent, "task_id", args.task.as_ref().map(|task| json!(task)));
    put(&mut intent, "question", args.question.as_ref().map(|question| json!(question)));
    let mut payload = json!({
        "mode": if args.draft { "draft" } else { "committed" },
        "type": args.kind,
        "content": args.content,
        "intent": intent,
    });
    put(&mut payload, "confidence", confidence(args));
    if !args.relations.is_empty() {
        let relations = args.relations.iter();
        let relations = relations.map(|(kind, unit)| json!({"type": kind, "target_id": unit}));
        put(&mut payload, "relations", Some(relations.collect()));
    }
    payload
}

fn confidence(args: &RecordArgs) -> Option<Value> {
    let mut confidence = Value::Object(Map::new());
    put(&mut confidence, "score", args.confidence.map(|score| json!(score)));
    put(&mut confidence, "reasoning", args.reasoning.as_ref().map(|reasoning| json!(reasoning)));
    for (key, texts) in [("evidence", &args.evidence), ("assumptions", &args.assumptions)] {
        put(&mut confidence, key, (!texts.is_empty()).then(|| json!(texts)));
    }
    confidence.as_object().is_some_and(|object| !object.is_empty()).then_some(confidence)
}

fn put(object: &mut Value, key: &str, value: Option<Value>) {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(key.to_owned(), value);
    }
}

fn render(answer: &RecordResponse) -> String {
    let id = output::harmless(&answer.memory_unit_id);
    let mut text = format!("recorded {id} at epoch {}\n", answer.epoch);
    for conflict in &answer.conflicts_detected {
        text.push_str(&format!("conflict: {}\n", output::harmless(conflict)));
    }
    for warning in &answer.warnings {
        text.push_str(&format!("warning: {}\n", output::harmless(warning)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use quipu_wire::akashik::RecordPayload;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        record: RecordArgs,
    }

    fn parse(flags: &[&str]) -> Result<RecordArgs, clap::Error> {
        let needed = ["record", "--type", "finding", "--purpose", "p", "text"];
        Line::try_parse_from([&needed, flags].concat()).map(|line| line.record)
    }

    #[test]
    fn all_arguments_make_a_payload_that_the_protocol_accepts_without_warnings() {
        let args = parse(&[
            "--task=t1",
            "--question=q",
            "--confidence=0.5",
            "--reasoning=r",
            "--evidence=e1",
            "--evidence=e2",
            "--assumption=a",
            "--relation=supersedes:mem-1",
        ])
        .unwrap();
        let (record, warnings) = RecordPayload::parse(payload(&args)).unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(record.intent.task_id.as_deref(), Some("t1"));
        assert_eq!(record.confidence.unwrap().evidence, ["e1", "e2"]);
        assert_eq!(record.relations[0].target_id, "mem-1");
    }

    #[test]
    fn a_draft_goes_without_confidence() {
        let payload = payload(&parse(&["--draft"]).unwrap());
        assert_eq!(payload["mode"], "draft");
        assert_eq!(payload.get("confidence"), None);
    }

    #[test]
    fn a_relation_without_a_known_kind_or_a_unit_is_refused() {
        for wrong in ["mem-1", "likes:mem-1", "supersedes:"] {
            assert!(parse(&["--relation", wrong]).is_err(), "{wrong}");
        }
    }
}
