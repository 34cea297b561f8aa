//! Owns the words in which a reader is told why a unit was given to it.
//! Decides nothing: it reads a score that is already made.

use crate::{
    limits::{MAX_NAME_CHARS, MAX_NAMED_WORDS},
    rank::score::{Contribution, Score, factor},
};

/// Most factors that one explanation names.
const MAX_FACTORS: usize = 3;
/// A signal below this did not speak for the unit, whatever its weight.
const MIN_SIGNAL: f32 = 0.35;

/// What is known of the unit besides its score.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// The type, such as `finding` or `human_directive`.
    pub type_name: &'a str,
    /// The role of the author, such as `market_researcher`; may be empty.
    pub author_role: &'a str,
    /// Words shared with the hint, as it wrote them, the most telling first.
    pub hint_terms: &'a [&'a str],
    /// Words shared with the reader's role and interests, likewise.
    pub own_terms: &'a [&'a str],
    /// Whether the unit belongs to the very task of the reader, and not to one near it.
    pub same_task: bool,
    /// What the author said of its certainty, where it said so.
    pub confidence: Option<f32>,
}

/// One or two plain sentences that name the two or three factors that mattered most, such as
/// "Recent finding from market_researcher. Shares 'market' and 'growth' with your hint."
pub fn reason(score: &Score, facts: &Facts<'_>) -> String {
    let mut strongest: Vec<&Contribution> =
        score.contributions.iter().filter(|factor| speaks_for(factor, facts)).collect();
    // A stable sort on a fixed list of factors: equal contributions keep their order.
    strongest.sort_by(|a, b| b.contribution.total_cmp(&a.contribution));
    strongest.truncate(MAX_FACTORS);
    // Most units are stated with confidence: it is said only of those of which there is little else to say.
    if strongest.len() > 1 {
        strongest.retain(|factor| factor.factor != factor::CONFIDENCE);
    }
    let named = |name| strongest.iter().any(|factor| factor.factor == name);
    let is_draft = score.contributions.iter().any(|entry| entry.factor == factor::DRAFT);
    let mut text = opening(named(factor::RECENCY), is_draft, facts);
    let clauses: Vec<String> =
        strongest.iter().filter_map(|factor| clause(factor.factor, facts)).collect();
    if strongest.is_empty() {
        text.push_str(" No factor stands out.");
    } else if !clauses.is_empty() {
        text.push(' ');
        text.push_str(&capitalised(&join(&clauses)));
        text.push('.');
    }
    text
}

/// Whether a factor may be named: it helped, and there is something true to say about it.
fn speaks_for(contribution: &Contribution, facts: &Facts<'_>) -> bool {
    let sayable = match contribution.factor {
        factor::LEXICAL if !facts.hint_terms.is_empty() => true,
        factor::INTERESTS if !facts.own_terms.is_empty() => true,
        factor::CONFIDENCE => facts.confidence.is_some_and(|confidence| confidence >= 0.7),
        factor::TYPE => contribution.raw >= 0.75,
        factor::RECENCY => contribution.raw >= 0.5,
        factor::DRAFT => false,
        _ => contribution.raw >= MIN_SIGNAL,
    };
    sayable && contribution.contribution > 0.0
}

/// "Recent finding from market_researcher."
fn opening(recent: bool, draft: bool, facts: &Facts<'_>) -> String {
    let mut words = Vec::new();
    if recent {
        words.push("recent".to_owned());
    }
    if draft {
        words.push("draft".to_owned());
    }
    let type_name = plain_name(facts.type_name).replace('_', " ");
    words.push(if type_name.is_empty() { "unit".to_owned() } else { type_name });
    let author = plain_name(facts.author_role);
    if !author.is_empty() {
        words.push(format!("from {author}"));
    }
    capitalised(&words.join(" ")) + "."
}

/// What is said of a factor in the second sentence; recency is in the first.
fn clause(name: &str, facts: &Facts<'_>) -> Option<String> {
    let text = match name {
        factor::LEXICAL => {
            let named = facts.hint_terms.iter().take(MAX_NAMED_WORDS);
            let words: Vec<String> = named.map(|word| format!("'{}'", plain_name(word))).collect();
            return Some(if words.is_empty() {
                "stands beside what your hint names".to_owned()
            } else {
                format!("shares {} with your hint", join(&words))
            });
        }
        factor::SEMANTIC => "is close in meaning to your hint",
        factor::AUTHOR => "is by whom your hint names",
        factor::INTERESTS => {
            let named = facts.own_terms.iter().take(MAX_NAMED_WORDS);
            let words: Vec<String> = named.map(|word| format!("'{}'", plain_name(word))).collect();
            return Some(if words.is_empty() {
                "is close to your role and interests".to_owned()
            } else {
                format!("shares {} with your role and interests", join(&words))
            });
        }
        factor::STANDING => "is a standing instruction",
        factor::ROLE => "comes from a role like yours",
        factor::TYPE => "matters by its type",
        factor::CONFIDENCE => "is stated with high confidence",
        factor::TASK if facts.same_task => "belongs to your task",
        factor::TASK => "belongs to a task near yours",
        factor::RELATION => "is linked to what you work on",
        _ => return None,
    };
    Some(text.to_owned())
}

/// "a", "a and b", "a, b and c".
fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A name as it may stand in a sentence: one line, of bounded length.
fn plain_name(name: &str) -> String {
    let flat = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let short: String = flat.take(MAX_NAME_CHARS).collect();
    short.trim().to_owned()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
