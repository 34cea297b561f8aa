//! Finding documents that disagree, without a language model. A [`Detector`] names candidates by the
//! index alone and then judges pairs by their texts; who keeps the verdicts is not decided here.
//!
//! [`BuiltIn`] reads prose as statements, looks for two about the same thing, and compares what
//! they say of it: numbers and dates, polarity, opposites, quantifiers, names in the same place. Where
//! the rules are unsure or silent, a small learned scorer is asked.

mod antonyms;
mod built_in;
mod candidates;
mod cases;
mod compare;
mod dates;
mod detector;
mod judge;
mod layer;
mod learned;
mod names;
mod never;
mod numbers;
mod options;
mod overlap;
mod polarity;
mod quantifiers;
mod readings;
mod sentences;
mod statement;
mod token;
mod units;
mod verdict;
mod weigh;
mod words;

pub use built_in::BuiltIn;
pub use candidates::{Candidate, Probe, Sieve};
pub use detector::{Claim, Detector, Disagreement, ExplicitOnly, Method};
pub use judge::{Judge, JudgeError, Opinion};
pub use options::{SURENESS, Thresholds};
