//! One sentence taken apart into what the rules compare: its topics, numbers, dates, polarity, and the
//! signs that it speaks of another time or of a mere plan.

use super::{
    dates::{Date, dates},
    numbers::{Quantity, quantities},
    polarity::{Polarity, polarity},
    quantifiers::{Extent, extent},
    token::{Token, tokens},
    words::{is_formerly, is_function, is_qualifier, is_tentative},
};

/// A word that says what a sentence is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Topic {
    /// The word without its ending.
    pub(super) stem: String,
    /// As written.
    pub(super) surface: String,
    /// Which token.
    pub(super) at: usize,
    pub(super) weight: f32,
    /// Whether it is written like a name.
    pub(super) name: bool,
    /// Whether it says for which case the sentence holds.
    pub(super) qualifier: bool,
}

/// A sentence, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement<'text> {
    pub(super) sentence: &'text str,
    pub(super) tokens: Vec<Token<'text>>,
    /// The words that carry its meaning, without numbers, dates and denials.
    pub(super) topics: Vec<Topic>,
    pub(super) quantities: Vec<Quantity>,
    pub(super) dates: Vec<Date>,
    pub(super) polarity: Polarity,
    pub(super) extent: Option<(Extent, usize)>,
    /// Where the predicate begins: what stands before is what the sentence is about.
    pub(super) verb: usize,
    /// Whether it is a plan, a wish or a condition.
    pub(super) tentative: bool,
    /// Whether it speaks of what was once.
    pub(super) former: bool,
    /// Whether its author speaks of themselves.
    pub(super) first_person: bool,
    /// A number for each distinct topic, in ascending order, to see quickly what two share.
    prints: Vec<u32>,
}

const AUXILIARIES: &[&str] = &[
    "am", "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may",
    "might", "must", "needs", "should", "was", "were", "will", "would",
];

impl<'text> Statement<'text> {
    pub(super) fn new(sentence: &'text str) -> Self {
        let tokens = tokens(sentence);
        let dates = dates(&tokens);
        let mut taken = vec![false; tokens.len()];
        let mut take = |from: usize, to: usize| {
            taken.iter_mut().take(to).skip(from).for_each(|place| *place = true);
        };
        dates.iter().for_each(|date| take(date.from, date.to));
        let quantities = quantities(&tokens, &taken);
        let mut take = |from: usize, to: usize| {
            taken.iter_mut().take(to).skip(from).for_each(|place| *place = true);
        };
        quantities.iter().for_each(|quantity| take(quantity.from, quantity.to));
        let polarity = polarity(&tokens);
        polarity.marks.iter().for_each(|mark| take(*mark, mark + 1));
        let topics = topics(&tokens, &taken);
        let any = |test: fn(&str) -> bool| tokens.iter().any(|token| test(&token.lower));
        Self {
            sentence,
            quantities,
            dates,
            polarity,
            extent: extent(&tokens),
            verb: predicate(&tokens),
            tentative: any(is_tentative),
            former: any(is_formerly) || any(|word| word == "used") && any(|word| word == "to"),
            first_person: any(|word| matches!(word, "i" | "me" | "my" | "mine")),
            prints: prints(&topics),
            topics,
            tokens,
        }
    }

    /// How many topics two statements share, without looking at their letters.
    pub(super) fn shares(&self, other: &Self) -> usize {
        let (mut mine, mut theirs) =
            (self.prints.iter().peekable(), other.prints.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => drop(mine.next()),
                std::cmp::Ordering::Greater => drop(theirs.next()),
                std::cmp::Ordering::Equal => {
                    shared += 1;
                    mine.next();
                    theirs.next();
                }
            }
        }
        shared
    }

    /// Whether it says which one it is about: "the door", "our plan", a name. "A door" may be any.
    pub(super) fn is_anchored(&self) -> bool {
        let points = |token: &Token<'_>| {
            matches!(
                token.lower.as_str(),
                "the"
                    | "this"
                    | "these"
                    | "those"
                    | "that"
                    | "our"
                    | "my"
                    | "your"
                    | "their"
                    | "its"
                    | "his"
                    | "her"
                    | "all"
                    | "every"
                    | "each"
                    | "we"
                    | "i"
                    | "they"
                    | "it"
                    | "he"
                    | "she"
            )
        };
        let subject = self.tokens.iter().take(self.verb.max(3));
        let article =
            self.tokens.first().is_some_and(|first| matches!(first.lower.as_str(), "a" | "an"));
        let mut subject = subject;
        !article
            && (subject.any(points)
                || self.topics.iter().any(|topic| topic.name)
                || self.tokens.first().is_some_and(|first| !points(first) && !first.is_numeric()))
    }

    /// The topics between two tokens.
    pub(super) fn topics_within(&self, from: usize, to: usize) -> impl Iterator<Item = &Topic> {
        self.topics.iter().filter(move |topic| (from..to).contains(&topic.at))
    }
}

/// FNV-1a of each stem. Two stems with one number only cost a comparison.
fn prints(topics: &[Topic]) -> Vec<u32> {
    let print = |stem: &str| {
        stem.bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619))
    };
    let mut prints: Vec<u32> = topics.iter().map(|topic| print(&topic.stem)).collect();
    prints.sort_unstable();
    prints.dedup();
    prints
}

fn topics(tokens: &[Token<'_>], taken: &[bool]) -> Vec<Topic> {
    let free = tokens.iter().enumerate().zip(taken).filter(|(_, taken)| !**taken);
    let wanted = free.map(|(token, _)| token).filter(|(_, token)| {
        // The country and the department are no pronouns.
        let place = matches!(token.surface, "US" | "IT");
        (place || !is_function(&token.lower)) && token.lower.chars().any(char::is_alphanumeric)
    });
    wanted
        .map(|(at, token)| {
            let name = token.is_name_like(at == 0);
            let short = token.stem.chars().count() < 4;
            let weight = if name {
                1.3
            } else if short {
                0.8
            } else {
                1.0
            };
            Topic {
                stem: token.stem.clone(),
                surface: token.surface.to_owned(),
                at,
                weight,
                name,
                qualifier: is_qualifier(&token.lower),
            }
        })
        .collect()
}

/// Where the predicate begins: at the first auxiliary, or else at what looks like a verb behind a noun.
fn predicate(tokens: &[Token<'_>]) -> usize {
    let auxiliary = tokens.iter().skip(1).position(|t| AUXILIARIES.contains(&t.lower.as_str()));
    let verb = tokens.iter().enumerate().skip(1).position(|(at, token)| {
        let lower = token.surface == token.lower && !is_function(&token.lower);
        let after_noun = tokens.get(at - 1).is_some_and(|before| {
            !is_function(&before.lower) || (at == 1 && !is_determiner(&before.lower))
        });
        lower && after_noun && (token.lower.ends_with('s') || token.lower.ends_with("ed"))
    });
    let first = [auxiliary, verb].into_iter().flatten().min();
    first.map_or_else(|| tokens.len().min(2), |at| at + 1)
}

/// Whether a noun must follow: "the orders table has", where "orders" is no verb.
fn is_determiner(word: &str) -> bool {
    matches!(word, "the" | "a" | "an" | "our" | "your" | "their" | "its" | "my" | "his" | "her")
}
