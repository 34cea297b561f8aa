//! Tells a group of units in brief and in their own words: decisions and rules first and whole, answers behind their
//! questions, of the rest the most telling sentences, each once, and phrases of what is left. Who and when stand once
//! before all that somebody said on a day. What was replaced, withdrawn or erased is not told again.

use std::collections::{BTreeMap, BTreeSet};

use quipu_core::event::UnitBody;
use quipu_recall::summary::{
    condense::{self, Room, condense},
    summarize::{lead, summarize},
};
use quipu_wire::{
    akashik::{MemoryType, UnitStatus},
    json::timestamp::rfc3339,
    quote,
};

use super::sources::{Source, SourceText};
use crate::base::limits::{
    SYNTHESIS_CHARS_MAX, SYNTHESIS_CHARS_MIN, SYNTHESIS_SHARE, SYNTHESIS_TOKENS,
    SYNTHESIS_WHOLE_CHARS,
};

pub(super) type Member<'a> = &'a SourceText;

/// Characters of an answer that is told behind its question.
const ANSWER_CHARS: usize = 240;
/// Words in which two sentences begin alike, from which on they are told together.
const SAME_BEGINNING: usize = 3;
/// Others who said the same, by name, at most.
const NAMED_MAX: usize = 3;

/// The order in which a text tells things, and what it calls them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Decision,
    Directive,
    Constraint,
    Answered,
    Plain,
    Contested,
    Draft,
    Superseded,
    Open,
}

impl Kind {
    const fn label(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Directive => "directive",
            Self::Constraint => "constraint",
            Self::Answered => "answered",
            Self::Plain => "",
            Self::Contested => "contested",
            Self::Draft => "draft",
            Self::Superseded => "superseded",
            Self::Open => "open question",
        }
    }

    fn of(source: &Source, is_answered: bool) -> Self {
        match (source.status, source.memory_type) {
            (UnitStatus::Contested, _) => Self::Contested,
            (UnitStatus::Draft, _) => Self::Draft,
            (UnitStatus::Superseded | UnitStatus::Retracted, _) => Self::Superseded,
            (_, MemoryType::Decision) => Self::Decision,
            (_, MemoryType::HumanDirective) => Self::Directive,
            (_, MemoryType::Constraint) => Self::Constraint,
            (_, MemoryType::Question) if is_answered => Self::Answered,
            (_, MemoryType::Question) => Self::Open,
            _ => Self::Plain,
        }
    }

    /// Whether it is told whole.
    const fn is_whole(self) -> bool {
        matches!(
            self,
            Self::Decision | Self::Directive | Self::Constraint | Self::Answered | Self::Open
        )
    }
}

/// Under what somebody is quoted: what it is, when, and who.
type Heading = (Kind, String, String);

/// The characters that a group has now.
pub(super) fn chars(members: &[Member<'_>]) -> usize {
    let contents = members.iter().filter_map(|(_, body)| body.as_ref());
    contents.map(|body| body.content.chars().count()).sum()
}

/// What is told of a group: not what was withdrawn or erased, and what was replaced only where there is nothing else.
pub(super) fn standing<'a>(members: &[Member<'a>]) -> Vec<(&'a Source, &'a UnitBody)> {
    let live: Vec<_> = members
        .iter()
        .filter_map(|(source, body)| Some((source, body.as_ref()?)))
        .filter(|(source, _)| source.status != UnitStatus::Retracted)
        .collect();
    let is_superseded = |source: &Source| source.status == UnitStatus::Superseded;
    if live.iter().all(|(source, _)| is_superseded(source)) {
        return live;
    }
    live.into_iter().filter(|(source, _)| !is_superseded(source)).collect()
}

/// A group in brief, if that is shorter than what it tells.
pub(super) fn in_brief(members: &[Member<'_>]) -> Option<String> {
    let before = chars(members);
    let told = standing(members);
    let mut page = Page::default();
    let rest = page.whole(&told);
    let room = if before < SYNTHESIS_WHOLE_CHARS {
        Room::Everything
    } else {
        let room = (before * SYNTHESIS_SHARE / 100).clamp(SYNTHESIS_CHARS_MIN, SYNTHESIS_CHARS_MAX);
        Room::Chars(room.saturating_sub(page.chars()))
    };
    page.condensed(&rest, room);
    let shorter = |text: &String| !text.is_empty() && text.chars().count() < before;
    Some(page.text()).filter(shorter).or_else(|| page.bare().filter(shorter))
}

/// The lines of a text, by heading.
#[derive(Debug, Default)]
struct Page {
    lines: BTreeMap<Heading, Vec<String>>,
    phrases: String,
}

type Standing<'a> = (&'a Source, &'a UnitBody);

impl Page {
    /// Tells what is told whole, each once. Answers the rest.
    fn whole<'a>(&mut self, told: &[Standing<'a>]) -> Vec<Standing<'a>> {
        let questions: BTreeSet<u32> = told
            .iter()
            .filter(|(source, _)| source.memory_type == MemoryType::Question)
            .map(|(source, _)| source.ordinal)
            .collect();
        let mut answers: BTreeMap<u32, Vec<Standing<'a>>> = BTreeMap::new();
        for (source, body) in told.iter().filter(|(source, _)| !source.answers.is_empty()) {
            for question in source.answers.intersection(&questions) {
                answers.entry(*question).or_default().push((source, body));
            }
        }
        let (mut rest, mut same): (Vec<Standing<'a>>, BTreeMap<_, Vec<&Source>>) =
            Default::default();
        let mut joined = BTreeSet::new();
        for (source, body) in told {
            let answered = answers.get(&source.ordinal);
            let kind = Kind::of(source, answered.is_some());
            if !kind.is_whole() {
                rest.push((source, body));
                continue;
            }
            let mut text = one_line(&summarize(&body.content, SYNTHESIS_TOKENS / 4));
            for (answer, said) in answered.into_iter().flatten() {
                joined.insert(answer.ordinal);
                let said = one_line(&lead(&said.content, ANSWER_CHARS));
                text.push_str(&format!(" — {}: {said}", quote::named(&answer.author)));
            }
            same.entry((kind, text)).or_default().push(source);
        }
        for ((kind, mut text), by) in same {
            let Some((first, others)) = by.split_first() else { continue };
            text.push_str(&repeats(&first.author, others.iter().map(|source| &*source.author)));
            self.lines.entry(heading(kind, first)).or_default().push(text);
        }
        rest.retain(|(source, body)| {
            let is_told = body.content.chars().count() <= ANSWER_CHARS;
            !(joined.contains(&source.ordinal) && is_told)
        });
        rest
    }

    /// Tells the rest in as much room as there is.
    fn condensed(&mut self, rest: &[Standing<'_>], room: Room) {
        let headings: Vec<Heading> =
            rest.iter().map(|(source, _)| heading(Kind::of(source, false), source)).collect();
        let mut known: Vec<&Heading> = headings.iter().collect();
        known.sort_unstable();
        known.dedup();
        let costs: Vec<usize> =
            known.iter().map(|heading| title(heading, true).chars().count() + 1).collect();
        let sources: Vec<condense::Source<'_>> = rest
            .iter()
            .zip(&headings)
            .map(|((source, body), heading)| condense::Source {
                text: &body.content,
                worth: worth(source.memory_type),
                heading: known.binary_search(&heading).unwrap_or_default(),
            })
            .collect();
        let found = condense(&sources, &costs, room);
        let author = |at: &usize| rest.get(*at).map_or("", |(source, _)| &*source.author);
        for quote in &found.quotes {
            let Some(heading) = headings.get(quote.source) else { continue };
            let mut text = one_line(&quote.sentence);
            text.push_str(&repeats(author(&quote.source), quote.repeats.iter().map(author)));
            self.lines.entry(heading.clone()).or_default().push(text);
        }
        if !found.phrases.is_empty() {
            self.phrases = format!("Also: {}.", one_line(&found.phrases.join("; ")));
        }
    }

    fn chars(&self) -> usize {
        self.text().chars().count()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut day = "";
        for (heading, quotes) in &self.lines {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&title(heading, heading.1 != day));
            day = &heading.1;
            text.push(' ');
            text.push_str(&together(quotes));
        }
        if !self.phrases.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&self.phrases);
        }
        text
    }

    /// The same without who and when, where one author said all of it on one day: the purpose tells that too.
    fn bare(&self) -> Option<String> {
        let mut lines = self.lines.iter();
        let (((Kind::Plain, _, _), quotes), None) = (lines.next()?, lines.next()) else {
            return None;
        };
        Some(together(quotes))
    }
}

fn heading(kind: Kind, source: &Source) -> Heading {
    (kind, day(source.time_ms), source.author.clone())
}

pub(super) fn day(time_ms: u64) -> String {
    let date = rfc3339(time_ms);
    date.get(..10).unwrap_or(&date).to_owned()
}

/// When, by whom, and as what: `2026-03-01 ana, decision:`. The author's name is quoted unless it is plain, so that no name
/// looks like the head of another line.
fn title((kind, day, author): &Heading, is_dated: bool) -> String {
    let date = if is_dated { format!("{day} ") } else { String::new() };
    let label = match kind.label() {
        "" => String::new(),
        label => format!(", {label}"),
    };
    format!("{date}{}{label}:", quote::named(author))
}

/// How often something was said besides, and by whom.
fn repeats<'a>(author: &str, others: impl Iterator<Item = &'a str>) -> String {
    let others: Vec<&str> = others.collect();
    if others.is_empty() {
        return String::new();
    }
    let names: BTreeSet<&str> = others.iter().copied().filter(|name| *name != author).collect();
    let times = others.len() + 1;
    if names.is_empty() {
        return format!(" ({times} times)");
    }
    let mut named: Vec<String> =
        names.iter().take(NAMED_MAX).map(|name| quote::named(name)).collect();
    if names.len() > NAMED_MAX {
        named.push(format!("{} more", names.len() - NAMED_MAX));
    }
    format!(" ({times} times, also {})", named.join(", "))
}

/// Sentences one after the other; those that begin alike say their beginning once.
fn together(quotes: &[String]) -> String {
    let mut text = String::new();
    let mut before: Option<(&str, usize)> = None;
    for quote in quotes {
        let same = before.and_then(|(first, bytes)| {
            let shared = shared_beginning(first, quote)?;
            (bytes == 0 || bytes == shared).then_some(shared)
        });
        let rest = same.and_then(|bytes| quote.get(bytes..));
        if let (Some(rest), Some(bytes)) = (rest, same) {
            text.truncate(text.trim_end_matches('.').len());
            text.push_str("; ");
            text.push_str(rest);
            before = before.map(|(first, _)| (first, bytes));
        } else {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(quote);
            before = Some((quote, 0));
        }
    }
    text
}

/// The bytes of the words in which two sentences begin alike, if there are enough and both go on.
fn shared_beginning(first: &str, second: &str) -> Option<usize> {
    let words = first.split(' ').zip(second.split(' ')).take_while(|(a, b)| a == b);
    let (mut count, mut bytes) = (0, 0);
    for (word, _) in words {
        count += 1;
        bytes += word.len() + 1;
    }
    let goes_on = first.len() > bytes && second.len() > bytes;
    (count >= SAME_BEGINNING && goes_on).then_some(bytes)
}

/// What a unit's kind adds to each of its sentences: observations give way first.
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
    quote::one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
