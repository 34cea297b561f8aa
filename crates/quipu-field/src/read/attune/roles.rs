//! How close roles are to each other: by the words that they have in common, or by what they mean.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use quipu_recall::embed::builtin;

use quipu_core::{State, state::Name};

/// The cosine from which on two roles have something to do with each other, and from which on they are
/// the same.
const COSINE_MIN: f32 = 0.2;
const COSINE_SAME: f32 = 0.8;

/// How close roles are to one. Units have few roles, so each is compared once.
#[derive(Debug)]
pub(crate) struct RoleAlignment {
    asked: BTreeSet<String>,
    meaning: Vec<f32>,
    known: RefCell<BTreeMap<Name, f32>>,
}

impl RoleAlignment {
    pub(crate) fn new(asked: &str) -> Self {
        let meaning = builtin().vector(asked);
        Self { asked: words(asked), meaning, known: RefCell::default() }
    }

    /// How close another one is, from 0 to 1.
    pub(crate) fn with(&self, role: Name, state: &State) -> f32 {
        let mut known = self.known.borrow_mut();
        *known.entry(role).or_insert_with(|| {
            let role = state.names.text(role);
            aligned(&self.asked, role).max(self.meant(role))
        })
    }

    fn meant(&self, role: &str) -> f32 {
        let other = builtin().vector(role);
        let cosine: f32 = self.meaning.iter().zip(&other).map(|(a, b)| a * b).sum();
        ((cosine - COSINE_MIN) / (COSINE_SAME - COSINE_MIN)).clamp(0.0, 1.0)
    }
}

/// How close two roles are by their words alone.
pub(crate) fn role_alignment(asked: &str, author: &str) -> f32 {
    aligned(&words(asked), author)
}

fn aligned(asked: &BTreeSet<String>, author: &str) -> f32 {
    let author = words(author);
    let all = asked.union(&author).count();
    if all == 0 { 0.0 } else { count(asked.intersection(&author).count()) / count(all) }
}

fn words(role: &str) -> BTreeSet<String> {
    let role = role.to_lowercase();
    let split = |letter: char| !letter.is_alphanumeric();
    role.split(split).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a handful of words")]
fn count(number: usize) -> f32 {
    number as f32
}
