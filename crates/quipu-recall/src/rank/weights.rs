//! Owns what each signal is worth, and how an operator changes it. The figures behind the defaults are in
//! `docs/ranking.md`.

use crate::rank::score::factor;

/// What each signal is worth. Only the proportions matter: the sum is divided by their total.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    pub lexical: f32,
    pub semantic: f32,
    /// Of an author that the hint names.
    pub author: f32,
    pub interests: f32,
    pub recency: f32,
    pub role: f32,
    pub type_importance: f32,
    pub standing: f32,
    pub confidence: f32,
    /// Of the reader's task.
    pub task: f32,
    pub relation: f32,
    /// The share of its score that a draft loses.
    pub draft_discount: f32,
}

/// The weights of a Field: one set for requests with a hint, one for those without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightSets {
    pub hinted: Weights,
    pub unhinted: Weights,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WeightError {
    #[error("there is no weight {name}; the weights are {}", Weights::NAMES.join(", "))]
    Unknown { name: String },
    #[error("the weight {name} must be a number from 0 to 100, not {value}")]
    OutOfRange { name: String, value: String },
    #[error(
        "a weight is written NAME=NUMBER, hinted.NAME=NUMBER or unhinted.NAME=NUMBER, not {entry}"
    )]
    Malformed { entry: String },
}

impl Default for WeightSets {
    fn default() -> Self {
        Self { hinted: Weights::HINTED, unhinted: Weights::UNHINTED }
    }
}

impl WeightSets {
    /// Changes weights as a text says: entries such as `semantic=0.9` (both sets), `hinted.recency=0.2`
    /// or `unhinted.task=1`, separated by commas.
    pub fn changed(mut self, text: &str) -> Result<Self, WeightError> {
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let malformed = || WeightError::Malformed { entry: entry.to_owned() };
            let (name, value) = entry.split_once('=').ok_or_else(malformed)?;
            let (name, value) = (name.trim(), value.trim());
            if let Some(name) = name.strip_prefix("hinted.") {
                self.hinted.set(name, value)?;
            } else if let Some(name) = name.strip_prefix("unhinted.") {
                self.unhinted.set(name, value)?;
            } else {
                self.hinted.set(name, value)?;
                self.unhinted.set(name, value)?;
            }
        }
        Ok(self)
    }
}

impl Weights {
    /// The names under which weights are set.
    pub const NAMES: [&str; 12] = [
        factor::LEXICAL,
        factor::SEMANTIC,
        factor::AUTHOR,
        factor::INTERESTS,
        factor::RECENCY,
        factor::ROLE,
        factor::TYPE,
        factor::STANDING,
        factor::CONFIDENCE,
        factor::TASK,
        factor::RELATION,
        "draft_discount",
    ];

    /// With a hint, what it asks for decides, and the rest settles what it leaves open.
    pub const HINTED: Self = Self {
        lexical: 1.0,
        semantic: 0.7,
        author: 0.7,
        interests: 0.2,
        recency: 0.03,
        role: 0.1,
        type_importance: 0.5,
        standing: 0.15,
        confidence: 0.1,
        task: 0.3,
        relation: 0.2,
        draft_discount: 0.15,
    };

    /// Without a hint, who the reader is and what it works on stand for one, and what is new counts.
    pub const UNHINTED: Self = Self {
        lexical: 0.0,
        semantic: 0.0,
        author: 0.0,
        interests: 1.0,
        recency: 0.4,
        role: 0.5,
        type_importance: 0.5,
        standing: 0.15,
        confidence: 0.15,
        task: 0.6,
        relation: 0.3,
        draft_discount: 0.15,
    };

    pub fn set(&mut self, name: &str, value: &str) -> Result<(), WeightError> {
        let wrong = || WeightError::OutOfRange { name: name.to_owned(), value: value.to_owned() };
        let number: f32 = value.parse().map_err(|_| wrong())?;
        let place =
            self.weight_mut(name).ok_or_else(|| WeightError::Unknown { name: name.to_owned() })?;
        if !(0.0..=100.0).contains(&number) {
            return Err(wrong());
        }
        *place = number;
        Ok(())
    }

    /// Gives recency the share `share` of the whole: 0 ignores it, 1 lets nothing else count.
    /// The other factors keep their proportions, and what a draft loses shrinks with them.
    /// A share that is not a number changes nothing.
    #[must_use]
    pub fn recency_weight(mut self, share: f32) -> Self {
        if share.is_nan() {
            return self;
        }
        let recency = share.clamp(0.0, 1.0);
        let others: f32 =
            Self::SHARED.iter().filter_map(|name| self.weight_mut(name).copied()).sum();
        let scale = if others > 0.0 { (1.0 - recency) / others } else { 0.0 };
        for name in Self::SHARED {
            if let Some(weight) = self.weight_mut(name) {
                *weight *= scale;
            }
        }
        self.recency = recency;
        self.draft_discount *= 1.0 - recency;
        self
    }

    /// All that share what recency leaves.
    const SHARED: [&str; 10] = [
        factor::LEXICAL,
        factor::SEMANTIC,
        factor::AUTHOR,
        factor::INTERESTS,
        factor::ROLE,
        factor::TYPE,
        factor::STANDING,
        factor::CONFIDENCE,
        factor::TASK,
        factor::RELATION,
    ];

    fn weight_mut(&mut self, name: &str) -> Option<&mut f32> {
        Some(match name {
            factor::LEXICAL => &mut self.lexical,
            factor::SEMANTIC => &mut self.semantic,
            factor::AUTHOR => &mut self.author,
            factor::INTERESTS => &mut self.interests,
            factor::RECENCY => &mut self.recency,
            factor::ROLE => &mut self.role,
            factor::TYPE => &mut self.type_importance,
            factor::STANDING => &mut self.standing,
            factor::CONFIDENCE => &mut self.confidence,
            factor::TASK => &mut self.task,
            factor::RELATION => &mut self.relation,
            "draft_discount" => &mut self.draft_discount,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_changes_one_set_or_both() {
        let changed = WeightSets::default()
            .changed("semantic=2, hinted.recency = 0.5,unhinted.task=0,")
            .unwrap();
        assert_eq!((changed.hinted.semantic, changed.unhinted.semantic), (2.0, 2.0));
        assert_eq!((changed.hinted.recency, changed.unhinted.recency), (0.5, 0.4));
        assert_eq!((changed.hinted.task, changed.unhinted.task), (0.3, 0.0));
        assert!(
            Weights::NAMES
                .iter()
                .all(|name| WeightSets::default().changed(&format!("{name}=1")).is_ok())
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refused = |text: &str| WeightSets::default().changed(text).unwrap_err().to_string();
        assert!(refused("luck=1").starts_with("there is no weight luck; the weights are lexical"));
        for value in ["-1", "NaN", "inf", "much", "101"] {
            assert!(refused(&format!("task={value}")).contains("from 0 to 100"), "{value}");
        }
        assert!(refused("task").contains("NAME=NUMBER"));
    }
}
