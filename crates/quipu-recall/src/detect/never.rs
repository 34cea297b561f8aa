//! "Never" against an instance: whoever has never done a thing has not done it yesterday either. The
//! denial is general, so what counts is how much of what it denies the other text affirms.

use super::{
    statement::{Statement, Topic},
    verdict::Clash,
};
use crate::embed::builtin;

/// What a sentence says never was.
#[derive(Debug)]
pub(super) struct Never<'s> {
    pub(super) topics: Vec<&'s Topic>,
    /// Whether its author speaks of themselves.
    pub(super) first_person: bool,
}

/// What a statement says never was, if it says so.
pub(super) fn never<'s>(statement: &'s Statement<'_>) -> Option<Never<'s>> {
    let at = statement.tokens.iter().position(|token| token.lower == "never")?;
    if !is_past(statement, at) {
        return None;
    }
    let behind = statement.tokens.iter().enumerate().skip(at + 2);
    let end = behind.into_iter().find(|(at, token)| ends_clause(statement, *at, token.after_break));
    let end = end.map_or(statement.tokens.len(), |(at, _)| at);
    let topics: Vec<_> = statement.topics_within(at, end).collect();
    (topics.len() >= 2).then_some(Never { topics, first_person: statement.first_person })
}

/// "Have never done", "never was", "was never": what is said of the past, and not of a habit or a wish.
fn is_past(statement: &Statement<'_>, at: usize) -> bool {
    let word = |at: Option<usize>| at.and_then(|at| statement.tokens.get(at));
    let perfect = word(at.checked_sub(1)).is_some_and(|before| {
        matches!(before.lower.as_str(), "have" | "has" | "had" | "was" | "were")
            || before.surface.ends_with("'ve")
            || before.surface.ends_with("’ve")
    });
    let participle = word(Some(at + 1)).is_some_and(|next| {
        matches!(next.lower.as_str(), "been" | "had" | "was" | "were" | "did")
            || (next.lower.ends_with("ed") && next.lower.len() > 4)
    });
    perfect || participle
}

fn ends_clause(statement: &Statement<'_>, at: usize, after_break: bool) -> bool {
    let word = statement.tokens.get(at).map_or("", |token| token.lower.as_str());
    after_break
        && matches!(word, "but" | "so" | "and" | "can" | "could" | "how" | "which" | "i" | "what")
        || matches!(word, "but" | "so" | "because")
}

impl Never<'_> {
    /// The words of it, in order.
    pub(super) fn text(&self) -> String {
        let words: Vec<_> = self.topics.iter().map(|topic| topic.surface.as_str()).collect();
        words.join(" ")
    }
}

/// Whether a text tells of an instance of what never was.
pub(super) fn against(
    never: &Never<'_>,
    others: &[Statement<'_>],
    closeness: f32,
) -> Option<(usize, Clash)> {
    let meant = builtin().vector(&never.text());
    let mut best: Option<(usize, f32)> = None;
    for (at, other) in others.iter().enumerate() {
        if other.polarity.negative || denies(other) {
            continue;
        }
        let meaning = cosine(&meant, &builtin().vector(other.sentence)).max(0.0);
        // Its words say more of an instance than what it is about.
        let mut told = share(never, other).mul_add(0.75, meaning * 0.25);
        if !is_done(other) {
            told *= 0.8;
        }
        if never.first_person && !other.first_person {
            told *= 0.8;
        }
        if best.is_none_or(|(_, known)| told > known) {
            best = Some((at, told));
        }
    }
    let (at, told) = best?;
    let sureness = f64::from(told * 0.6 + closeness.clamp(0.0, 1.0) * 0.6).min(0.95);
    let what = format!("what is said never to have been (“{}”) is told of here", never.text());
    let half = others.get(at).is_some_and(|other| share(never, other) >= 0.4);
    (told > 0.15)
        .then_some((at, Clash { sureness: if half { sureness } else { sureness * 0.7 }, what }))
}

/// Whether a statement says itself that something never was, whatever else it denies beside it: two denials agree.
fn denies(other: &Statement<'_>) -> bool {
    other.tokens.iter().any(|token| token.lower == "never")
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let length = (dot(a, a) * dot(b, b)).sqrt();
    if length > 0.0 { dot(a, b) / length } else { 0.0 }
}

/// The share of what never was that a statement speaks of.
fn share(never: &Never<'_>, other: &Statement<'_>) -> f32 {
    let all: f32 = never.topics.iter().map(|topic| topic.weight).sum();
    let told = |topic: &&&Topic| other.topics.iter().any(|theirs| theirs.stem == topic.stem);
    let found: f32 = never.topics.iter().filter(told).map(|topic| topic.weight).sum();
    if all > 0.0 { found / all } else { 0.0 }
}

/// Whether a statement tells of something done, and not of something wanted.
fn is_done(other: &Statement<'_>) -> bool {
    let done = |token: &super::token::Token<'_>| {
        matches!(
            token.lower.as_str(),
            "have" | "had" | "did" | "was" | "managed" | "already" | "just"
        ) || token.lower.ends_with("ed")
            || token.surface.ends_with("'ve")
    };
    !other.tentative && other.tokens.iter().any(done)
}
