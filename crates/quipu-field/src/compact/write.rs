//! Writes a group of units down as one: whole sentences of theirs, each dated and with its author.

use quipu_core::{
    outline::Texts,
    rules::compact::{Likeness, Synthesis},
};

use quipu_log::{Body, EngineError};
use quipu_recall::{Summarizer, summary::summarize, text::tokens};
use quipu_wire::{
    akashik::{MemoryType, UnitStatus},
    json::timestamp::rfc3339,
    quote,
};

use super::{
    author::Author,
    groups::{Bond, Group, groups},
    memo::Memo,
};
use crate::{
    base::{
        error::FieldError,
        limits::{SYNTHESIS_NOTE_CHARS, SYNTHESIS_TOKENS},
    },
    read::bodies::Bodies,
};
use quipu_core::{Origin, State, UnitId, event::UnitBody};

/// A unit to be summarized, as far as the state knows it.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    ordinal: u32,
    id: UnitId,
    author: String,
    memory_type: MemoryType,
    status: UnitStatus,
    time_ms: u64,
    score: Option<f64>,
    position: u64,
    event: u32,
    pub(super) likeness: Likeness,
    pub(super) session: Option<String>,
    pub(super) task: Option<String>,
}

/// Takes what the state knows of units, so that the view can be let go of.
pub(crate) fn sources(state: &State, ordinals: &[u32]) -> Vec<Source> {
    let text = |name| state.names.text(name).to_owned();
    let source = |&ordinal: &u32| {
        let (flags, details) = (state.units.flags(ordinal)?, state.units.details(ordinal)?);
        Some(Source {
            ordinal,
            id: details.id,
            author: text(flags.author),
            memory_type: flags.memory_type,
            status: flags.status,
            time_ms: details.time_ms,
            score: details.score,
            position: details.position,
            event: details.event,
            likeness: Likeness::of(state, ordinal),
            session: details.session.map(text),
            task: details.task.map(text),
        })
    };
    ordinals.iter().filter_map(source).collect()
}

/// Groups units and writes a summary of each group. Also answers what the caller should know.
pub(crate) fn write(
    sources: Vec<Source>,
    bodies: &Bodies,
    origin: &dyn Origin,
    (summarizer, memo): (Option<&dyn Summarizer>, &Memo),
) -> Result<(Vec<Synthesis>, Option<String>), FieldError> {
    let with_texts = sources
        .into_iter()
        .map(|source| {
            let body = bodies.load::<UnitBody>(source.position, source.event)?;
            Ok((source, body))
        })
        .collect::<Result<Vec<_>, EngineError>>()?;
    let mut author = Author::new(summarizer, memo);
    let written = groups(&with_texts)
        .iter()
        .map(|group| {
            let members: Vec<_> =
                group.members.iter().filter_map(|at| with_texts.get(*at)).collect();
            synthesis(group, &members, origin, &mut author)
        })
        .collect::<Result<_, _>>()?;
    Ok((written, author.warning()))
}

type Member<'a> = &'a (Source, Option<UnitBody>);

fn synthesis(
    group: &Group,
    members: &[Member<'_>],
    origin: &dyn Origin,
    author: &mut Author<'_>,
) -> Result<Synthesis, FieldError> {
    let first = members.first().map(|(source, _)| source);
    let task = first.and_then(|source| source.task.clone());
    let session = first.and_then(|source| source.session.clone());
    let scores = members.iter().filter_map(|(source, _)| source.score);
    let lowest =
        scores.fold(None, |low: Option<f64>, score| Some(low.map_or(score, |low| low.min(score))));
    let what = what(group.bond, members.len(), task.as_deref(), session.as_deref());
    let (content, how) = match author.write(&notes(members)) {
        Some((name, text)) => {
            (format!("Summary of {what}.\n{text}"), format!("as the model {name} wrote it"))
        }
        None => (content(&what, members), "in their own words".to_owned()),
    };
    let text = UnitBody {
        content,
        purpose: format!("To keep in brief what was recorded in {what}."),
        reasoning: Some(format!("Summarizes {what} {how}; the score is the lowest of theirs.")),
        ..UnitBody::default()
    };
    let body =
        Body::new(origin.salt(), &text).map_err(|error| FieldError::Internal(error.to_string()))?;
    Ok(Synthesis {
        id: UnitId::from_bits(origin.id_bits()),
        body,
        searchable: text.searchable(),
        content: text.content,
        score: lowest.unwrap_or(0.0),
        task,
        session,
        sources: members.iter().map(|(source, _)| source.id).collect(),
        ordinals: members.iter().map(|(source, _)| source.ordinal).collect(),
    })
}

/// What a group is, such as "3 units on one topic in session s-1".
fn what(bond: Bond, units: usize, task: Option<&str>, session: Option<&str>) -> String {
    let mut what = if units == 1 { "1 unit".to_owned() } else { format!("{units} units") };
    match bond {
        Bond::Task => {
            what.push_str(&format!(" for task {}", quote::named(task.unwrap_or_default())))
        }
        Bond::Topic => what.push_str(" on one topic"),
        Bond::Rest => what.push_str(" on various topics"),
    }
    if let Some(session) = session {
        what.push_str(&format!(" in session {}", quote::named(session)));
    }
    what
}

/// What a model is given to write from: more of each unit than an extract has, and quoted, so that no text looks like
/// a note of its own.
fn notes(members: &[Member<'_>]) -> String {
    let mut text = String::new();
    for (source, body) in members {
        let said = body.as_ref().filter(|_| source.status != UnitStatus::Retracted);
        let Some(said) = said.map(|body| one_line(&body.content)) else { continue };
        let said = said.get(..said.floor_char_boundary(SYNTHESIS_NOTE_CHARS)).unwrap_or(&said);
        text.push_str(&format!("{} {}\n", name(source), quote::quoted(said)));
    }
    text
}

fn content(what: &str, members: &[Member<'_>]) -> String {
    let names: Vec<String> = members.iter().map(|(source, _)| name(source)).collect();
    let texts: Vec<&str> = members.iter().map(unit_text).collect();
    let sources: Vec<summarize::Source<'_>> = members
        .iter()
        .zip(texts.iter().zip(&names))
        .map(|((source, _), (text, name))| summarize::Source {
            text,
            worth: worth(source.memory_type),
            name_tokens: tokens::count(name),
        })
        .collect();
    let mut lines: Vec<String> = vec![String::new(); members.len()];
    for extract in summarize::digest(&sources, SYNTHESIS_TOKENS) {
        if let Some(line) = lines.get_mut(extract.source) {
            line.push(' ');
            line.push_str(&quote::one_line(&one_line(&extract.sentence)));
        }
    }
    let mut text = format!("Summary of {what}.");
    let mut left_out = 0;
    for (((source, body), name), line) in members.iter().zip(&names).zip(&lines) {
        let line = match (line.as_str(), body) {
            // What was withdrawn is not said again.
            ("", Some(_)) if source.status == UnitStatus::Retracted => " (not repeated)",
            ("", None) => " (erased)",
            ("", Some(_)) => {
                left_out += 1;
                continue;
            }
            (line, _) => line,
        };
        text.push('\n');
        text.push_str(name);
        text.push_str(line);
    }
    if left_out > 0 {
        let units = if left_out == 1 { "unit says" } else { "units say" };
        text.push_str(&format!("\n{left_out} more {units} the same or had no room here."));
    }
    text
}

/// When, by whom, and as what: `2026-03-01 ana, finding:`. The author's name is quoted unless it is plain, so that no name
/// looks like the head of another line.
fn name(source: &Source) -> String {
    let date = rfc3339(source.time_ms);
    let date = date.get(..10).unwrap_or(&date);
    let status = match source.status {
        UnitStatus::Active | UnitStatus::PendingEnrichment => String::new(),
        UnitStatus::Draft
        | UnitStatus::Superseded
        | UnitStatus::Retracted
        | UnitStatus::Contested => format!(", {}", source.status),
    };
    format!("{date} {}, {}{status}:", quote::named(&source.author), source.memory_type)
}

/// What there is to be said of a unit.
fn unit_text<'a>((source, body): &Member<'a>) -> &'a str {
    let body = body.as_ref().filter(|_| source.status != UnitStatus::Retracted);
    body.map_or("", |body| body.content.as_str())
}

/// What a unit's kind adds to each of its sentences: what binds and what is open is kept before what is known.
const fn worth(kind: MemoryType) -> f32 {
    match kind {
        MemoryType::Decision | MemoryType::HumanDirective => 1.0,
        MemoryType::Constraint | MemoryType::Question | MemoryType::Correction => 0.8,
        MemoryType::Contradiction | MemoryType::Synthesis => 0.5,
        MemoryType::Finding => 0.3,
        MemoryType::Observation | MemoryType::Intention | MemoryType::Assumption => 0.0,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
