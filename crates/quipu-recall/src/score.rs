//! Owns the third stage of recall: what each signal of a candidate is worth, and their one sum.
//! Signals are measured elsewhere and handed in as numbers from 0 to 1; a new kind of signal is a
//! field of [`Signals`], a field of [`Weights`] and a line in `factors`.
//! Does not order candidates (`rank` does) and writes no prose (`explain` does).

/// What is known of one candidate. Numbers outside 0 to 1 are clamped, NaN counts as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// How well the words match, relative to the best match of the query; see [`lexical`].
    /// None when nothing was asked, which is not the same as no match.
    pub lexical: Option<f32>,
    /// How new the unit is; see [`recency`].
    pub recency: f32,
    /// How close the author's role is to the reader's.
    pub role: f32,
    /// How much the type of the unit matters; see [`type_importance`].
    pub type_importance: f32,
    /// What the author said of its certainty. None counts as undecided, 0.5.
    pub confidence: Option<f32>,
    /// Whether it belongs to the reader's task (1), a task it depends on (less), or neither (0).
    pub task: f32,
    /// How close it is, by stated relations, to what the reader works on.
    pub relation: f32,
    /// Whether it is not committed yet.
    pub is_draft: bool,
}

/// What each signal is worth. Only the proportions matter: the sum is divided by their total.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Of [`Signals::lexical`]. The largest, because a hint is the clearest wish a reader states.
    pub lexical: f32,
    /// Of [`Signals::recency`].
    pub recency: f32,
    /// Of [`Signals::role`].
    pub role: f32,
    /// Of [`Signals::type_importance`].
    pub type_importance: f32,
    /// Of [`Signals::confidence`].
    pub confidence: f32,
    /// Of [`Signals::task`].
    pub task: f32,
    /// Of [`Signals::relation`].
    pub relation: f32,
    /// The share of its score that a draft loses.
    pub draft_discount: f32,
}

impl Default for Weights {
    /// With a query, words decide and the rest settles what words leave open; without one,
    /// recency, type and task lead, in this order.
    fn default() -> Self {
        Self {
            lexical: 0.40,
            recency: 0.16,
            role: 0.10,
            type_importance: 0.13,
            confidence: 0.06,
            task: 0.10,
            relation: 0.05,
            draft_discount: 0.15,
        }
    }
}

impl Weights {
    /// Gives recency the share `share` of the whole: 0 ignores it, 1 lets nothing else count.
    /// The other factors keep their proportions, and what a draft loses shrinks with them.
    /// A share that is not a number changes nothing.
    #[must_use]
    pub fn recency_weight(self, share: f32) -> Self {
        if share.is_nan() {
            return self;
        }
        let recency = share.clamp(0.0, 1.0);
        let others = self.lexical
            + self.role
            + self.type_importance
            + self.confidence
            + self.task
            + self.relation;
        let scale = if others > 0.0 { (1.0 - recency) / others } else { 0.0 };
        Self {
            lexical: self.lexical * scale,
            recency,
            role: self.role * scale,
            type_importance: self.type_importance * scale,
            confidence: self.confidence * scale,
            task: self.task * scale,
            relation: self.relation * scale,
            draft_discount: self.draft_discount * (1.0 - recency),
        }
    }
}

/// The names under which factors appear in [`Contribution::factor`].
pub mod factor {
    /// Shared words.
    pub const LEXICAL: &str = "lexical";
    /// Newness.
    pub const RECENCY: &str = "recency";
    /// Closeness of roles.
    pub const ROLE: &str = "role";
    /// Weight of the type.
    pub const TYPE: &str = "type_importance";
    /// Stated certainty.
    pub const CONFIDENCE: &str = "confidence";
    /// The reader's task.
    pub const TASK: &str = "task";
    /// Stated relations.
    pub const RELATION: &str = "relation";
    /// What a draft loses; the only one below zero.
    pub const DRAFT: &str = "draft";
}

/// How relevant one candidate is, and why.
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
    let factors = factors(signals, weights);
    let total: f32 = factors.iter().map(|(_, _, weight)| weight).sum();
    let total = if total > 0.0 { total } else { 1.0 };
    let mut contributions: Vec<Contribution> = factors
        .into_iter()
        .map(|(name, raw, weight)| Contribution::new(name, raw, weight / total))
        .collect();
    let mut value: f32 = contributions.iter().map(|factor| factor.contribution).sum();
    if signals.is_draft {
        let loss = Contribution::new(factor::DRAFT, value, -unit(weights.draft_discount));
        value += loss.contribution;
        contributions.push(loss);
    }
    Score { value: unit(value), contributions }
}

/// The signals that apply, each with its weight.
fn factors(signals: &Signals, weights: &Weights) -> Vec<(&'static str, f32, f32)> {
    let always = [
        (factor::RECENCY, signals.recency, weights.recency),
        (factor::ROLE, signals.role, weights.role),
        (factor::TYPE, signals.type_importance, weights.type_importance),
        (factor::CONFIDENCE, signals.confidence.unwrap_or(0.5), weights.confidence),
        (factor::TASK, signals.task, weights.task),
        (factor::RELATION, signals.relation, weights.relation),
    ];
    let asked = signals.lexical.map(|raw| (factor::LEXICAL, raw, weights.lexical));
    asked
        .into_iter()
        .chain(always)
        .map(|(name, raw, weight)| (name, unit(raw), finite_weight(weight)))
        .collect()
}

/// The lexical signal: a raw score relative to the best one that the reader may see.
pub fn lexical(raw: f32, best: f32) -> f32 {
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
