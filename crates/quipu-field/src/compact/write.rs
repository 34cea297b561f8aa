//! Writes summaries down as units: text, purpose, confidence and what they stand for.

use std::collections::BTreeMap;

use quipu_core::{Origin, UnitId, event::UnitBody, rules::compact::Synthesis};
use quipu_log::Body;
use quipu_recall::Summarizer;
use quipu_wire::{
    akashik::{Fidelity, UnitStatus},
    quote,
};

use super::{
    author::Author,
    brief::{Member, day, standing},
    fidelity,
    groups::{Bond, groups},
    memo::Memo,
    plan::{Planned, members, plan},
    sources::{Material, Read, SourceText},
};
use crate::{
    base::{error::FieldError, limits::SYNTHESIS_NOTE_CHARS},
    read::bodies::Bodies,
};

/// Authors that a purpose names at most.
const AUTHORS_NAMED_MAX: usize = 5;

/// What a summarize writes, and what is needed to see how much of the units survives.
#[derive(Debug, Default)]
pub(crate) struct Summaries {
    pub(crate) syntheses: Vec<Synthesis>,
    /// What their texts keep of the units' own.
    pub(crate) kept: Fidelity,
    /// For each synthesis the units that it tells, by ordinal, with their texts.
    pub(crate) told: Vec<Vec<(u32, String)>>,
    /// What the caller should know.
    pub(crate) warning: Option<String>,
}

/// Groups units and writes a summary of each group.
pub(crate) fn write(
    material: Material,
    bodies: &Bodies,
    origin: &dyn Origin,
    minimum: Option<f64>,
    (summarizer, memo): (Option<&dyn Summarizer>, &Memo),
) -> Result<Summaries, FieldError> {
    let read = material.read(bodies)?;
    let mut author = Author::new(summarizer, memo, minimum);
    let mut written = Summaries::default();
    for planned in plan(groups(&read.sources), &read) {
        synthesis(planned, &read, origin, &mut author, &mut written)?;
    }
    written.warning = author.warning();
    Ok(written)
}

fn synthesis(
    planned: Planned,
    read: &Read,
    origin: &dyn Origin,
    author: &mut Author<'_>,
    written: &mut Summaries,
) -> Result<(), FieldError> {
    let members = members(&planned.group, read);
    let first = members.first().map(|(source, _)| source);
    let session = first.and_then(|source| source.session.clone());
    let task = first.and_then(|source| source.task.clone());
    let is_common = |(source, _): &Member<'_>| source.task == task;
    let task = task.clone().filter(|_| members.iter().all(is_common));
    let what = what(planned.group.bond, members.len(), task.as_deref(), session.as_deref());
    let (content, how) = match author.write(&notes(&members), &members, &planned.text) {
        Some((name, text)) => (text, format!("as the model {name} wrote it")),
        None => (planned.text, "in their own words".to_owned()),
    };
    let (score, sure) = confidence(&members);
    let text = UnitBody {
        content,
        purpose: format!("To keep in brief what was recorded in {what}, {}.", by_whom(&members)),
        reasoning: Some(format!("Summarizes {what} {how}; {sure}.")),
        ..UnitBody::default()
    };
    let body =
        Body::new(origin.salt(), &text).map_err(|error| FieldError::Internal(error.to_string()))?;
    written.kept.add(&fidelity::kept(&members, &text.content));
    let told = standing(&members);
    let told = told.iter().map(|(source, body)| (source.ordinal, body.content.clone()));
    written.told.push(told.collect());
    written.syntheses.push(Synthesis {
        id: UnitId::from_bits(origin.id_bits()),
        body,
        searchable: text.searchable(),
        content: text.content,
        score,
        task,
        session,
        sources: members.iter().map(|(source, _)| source.id).collect(),
        ordinals: members.iter().map(|(source, _)| source.ordinal).collect(),
        replaces: planned.replaces,
    });
    Ok(())
}

/// The middle of the confidences of what is told, and their range in words. What was withdrawn or replaced makes nothing
/// that holds less sure.
fn confidence(members: &[Member<'_>]) -> (f64, String) {
    let mut scores: Vec<f64> =
        standing(members).iter().filter_map(|(source, _)| source.score).collect();
    scores.sort_by(f64::total_cmp);
    // Of an even number the lower one.
    let middle = scores.get(scores.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
    let sure = match (scores.first(), scores.last()) {
        (Some(low), Some(high)) if low < high => format!(
            "their confidence is from {low} to {high}, and the score is the middle one of theirs"
        ),
        (Some(same), _) => format!("their confidence is {same}"),
        (None, _) => "none of them has a confidence".to_owned(),
    };
    (middle, sure)
}

/// What a group is, such as "3 units on one topic in session s-1".
fn what(bond: Bond, units: usize, task: Option<&str>, session: Option<&str>) -> String {
    let mut what = format!("{units} units");
    match (bond, task) {
        (_, Some(task)) => what.push_str(&format!(" for task {}", quote::named(task))),
        (Bond::Topic, None) => what.push_str(" on one topic"),
        (Bond::Task | Bond::Rest, None) => what.push_str(" on various topics"),
    }
    if let Some(session) = session {
        what.push_str(&format!(" in session {}", quote::named(session)));
    }
    what
}

/// When and by whom a group was recorded: `from 2026-03-01 to 2026-03-04 by ana (3) and ben`.
fn by_whom(members: &[Member<'_>]) -> String {
    let days = members.iter().map(|(source, _)| source.time_ms);
    let first = days.clone().min().map(day).unwrap_or_default();
    let last = days.max().map(day).unwrap_or_default();
    let when =
        if first == last { format!("on {first}") } else { format!("from {first} to {last}") };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (source, _) in members {
        *counts.entry(&source.author).or_default() += 1;
    }
    let mut by: Vec<(usize, &str)> =
        counts.into_iter().map(|(name, count)| (count, name)).collect();
    by.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let mut named: Vec<String> = by
        .iter()
        .take(AUTHORS_NAMED_MAX)
        .map(|(count, name)| format!("{} ({count})", quote::named(name)))
        .collect();
    if by.len() > AUTHORS_NAMED_MAX {
        named.push(format!("{} more", by.len() - AUTHORS_NAMED_MAX));
    }
    format!("{when} by {}", named.join(", "))
}

/// What a model is given to write from: more of each unit than an extract has, and quoted, so that no text looks like
/// a note of its own.
fn notes(members: &[&SourceText]) -> String {
    let mut text = String::new();
    for (source, body) in standing(members) {
        let said = body.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = said.get(..said.floor_char_boundary(SYNTHESIS_NOTE_CHARS)).unwrap_or(&said);
        let status = match source.status {
            UnitStatus::Active | UnitStatus::PendingEnrichment => String::new(),
            UnitStatus::Draft
            | UnitStatus::Superseded
            | UnitStatus::Retracted
            | UnitStatus::Contested => format!(", {}", source.status),
        };
        let (day, author) = (day(source.time_ms), quote::named(&source.author));
        let head = format!("{day} {author}, {}{status}:", source.memory_type);
        text.push_str(&format!("{head} {}\n", quote::quoted(said)));
    }
    text
}
