//! Owns the third stage of recall: what each signal of a candidate is worth, and their one sum.
//! Signals are measured elsewhere and handed in as numbers from 0 to 1; a new kind of signal is a
//! field of [`Signals`], a name in [`factor`] and a line in `factors`. What it is worth is in
//! `weights`. Does not order candidates (`rank` does) and writes no prose (`explain` does).

use crate::rank::weights::Weights;

/// What is known of one candidate. Numbers outside 0 to 1 are clamped, NaN counts as 0. None is a
/// signal that does not apply to the whole request, which is not the same as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// How well the words match the hint, relative to the best match; see [`relative`].
    pub lexical: Option<f32>,
    /// How close it is in meaning to the hint, relative to the closest.
    pub semantic: Option<f32>,
    /// Where the hint names authors: how well one of theirs matches the rest of the hint.
    pub author: Option<f32>,
    /// How well it fits what the reader said of itself: interests, role, the task at hand.
    pub interests: Option<f32>,
    /// How new the unit is; see [`recency`].
    pub recency: f32,
    /// How close the author's role is to the reader's.
    pub role: f32,
    /// How much the type of the unit matters; see [`type_importance`].
    pub type_importance: f32,
    /// Whether it lays down a rule that holds from then on.
    pub standing: f32,
    /// What the author said of its certainty. None counts as undecided, 0.5.
    pub confidence: Option<f32>,
    /// Whether it belongs to the reader's task; none where it has no task.
    pub task: Option<f32>,
    /// How close it is, by stated relations, to that task's units.
    pub relation: Option<f32>,
    pub is_draft: bool,
}

/// The names under which factors appear in [`Contribution::factor`].
pub mod factor {
    pub const LEXICAL: &str = "lexical";
    pub const SEMANTIC: &str = "semantic";
    /// An author that the hint names.
    pub const AUTHOR: &str = "author";
    /// Closeness to what the reader said of itself.
    pub const INTERESTS: &str = "interests";
    pub const RECENCY: &str = "recency";
    pub const ROLE: &str = "role";
    pub const TYPE: &str = "type_importance";
    pub const STANDING: &str = "standing";
    pub const CONFIDENCE: &str = "confidence";
    /// The reader's task.
    pub const TASK: &str = "task";
    pub const RELATION: &str = "relation";
    /// What a draft loses; the only one below zero.
    pub const DRAFT: &str = "draft";
}

#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// From 0 to 1.
    pub value: f32,
    /// One entry per factor that was considered; together they make up `value`.
    pub contributions: Vec<Contribution>,
}

/// What one factor added: `raw * weight`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contribution {
    /// One of the names in [`factor`].
    pub factor: &'static str,
    /// The signal, from 0 to 1.
    pub raw: f32,
    /// Its share; the shares of all signals are 1 together. That of a draft is below zero.
    pub weight: f32,
    /// The product.
    pub contribution: f32,
}

impl Contribution {
    fn new(factor: &'static str, raw: f32, weight: f32) -> Self {
        Self { factor, raw, weight, contribution: raw * weight }
    }
}

/// Adds up the signals of one candidate.
pub fn score(signals: &Signals, weights: &Weights) -> Score {
    let mut contributions: Vec<Contribution> = contributions(signals, weights).collect();
    let mut value: f32 = contributions.iter().map(|factor| factor.contribution).sum();
    if signals.is_draft {
        let loss = draft_loss(value, weights);
        value += loss.contribution;
        contributions.push(loss);
    }
    Score { value: unit(value), contributions }
}

/// The value of [`score`] alone, to the bit, for the many candidates that nobody will be told about.
pub fn value(signals: &Signals, weights: &Weights) -> f32 {
    let value: f32 = contributions(signals, weights).map(|factor| factor.contribution).sum();
    let loss = if signals.is_draft { draft_loss(value, weights).contribution } else { 0.0 };
    unit(value + loss)
}

fn draft_loss(value: f32, weights: &Weights) -> Contribution {
    Contribution::new(factor::DRAFT, value, -unit(weights.draft_discount))
}

/// What each signal that applies adds.
fn contributions(signals: &Signals, weights: &Weights) -> impl Iterator<Item = Contribution> {
    let factors = factors(signals, weights);
    let applying = factors.iter().filter(|(_, raw, _)| raw.is_some());
    let total: f32 = applying.map(|(_, _, weight)| finite_weight(*weight)).sum();
    let total = if total > 0.0 { total } else { 1.0 };
    factors.into_iter().filter_map(move |(name, raw, weight)| {
        Some(Contribution::new(name, unit(raw?), finite_weight(weight) / total))
    })
}

const fn factors(signals: &Signals, weights: &Weights) -> [(&'static str, Option<f32>, f32); 11] {
    let confidence = match signals.confidence {
        Some(stated) => stated,
        None => 0.5,
    };
    [
        (factor::LEXICAL, signals.lexical, weights.lexical),
        (factor::SEMANTIC, signals.semantic, weights.semantic),
        (factor::AUTHOR, signals.author, weights.author),
        (factor::INTERESTS, signals.interests, weights.interests),
        (factor::RECENCY, Some(signals.recency), weights.recency),
        (factor::ROLE, Some(signals.role), weights.role),
        (factor::TYPE, Some(signals.type_importance), weights.type_importance),
        (factor::STANDING, Some(signals.standing), weights.standing),
        (factor::CONFIDENCE, Some(confidence), weights.confidence),
        (factor::TASK, signals.task, weights.task),
        (factor::RELATION, signals.relation, weights.relation),
    ]
}

/// A signal relative to the best one that the reader may see.
pub fn relative(raw: f32, best: f32) -> f32 {
    if best > 0.0 { unit(raw / best) } else { 0.0 }
}

/// The recency signal: 1 for what is newest, 0 for what is `span` old or older.
///
/// `age` and `span` are counted in the same unit, such as epochs before the newest. Each doubling
/// of the age costs the same, so it tells the last ten units apart in a field of a million as well
/// as in a field of a hundred.
pub fn recency(age: u64, span: u64) -> f32 {
    if age == 0 {
        return 1.0;
    }
    if age >= span {
        return 0.0;
    }
    unit(1.0 - (age as f32).ln_1p() / (span as f32).ln_1p())
}

/// How much a type of memory unit matters in itself. An unknown type is in the middle.
pub fn type_importance(type_name: &str) -> f32 {
    match type_name {
        "human_directive" => 1.0,
        "constraint" => 0.95,
        "decision" | "contradiction" => 0.9,
        "correction" => 0.8,
        "synthesis" => 0.75,
        "finding" => 0.6,
        "observation" => 0.3,
        // Questions, assumptions and intentions too: they matter until they are settled.
        _ => 0.5,
    }
}

/// Clamps to 0..=1; NaN becomes 0.
pub(crate) const fn unit(value: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// A weight that cannot spoil a sum: not negative, not NaN, far from infinity.
const fn finite_weight(weight: f32) -> f32 {
    if weight.is_nan() { 0.0 } else { weight.clamp(0.0, 1e6) }
}
