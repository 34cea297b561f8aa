//! Figures of a ranking: recall and nDCG at ten, over all questions and by category.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::play::DEPTH;

/// A category whose questions have no true answer; it is told apart from the rest.
const ADVERSARIAL: &str = "adversarial";
/// Categories whose questions do not name the instruction that matters.
const UNASKED: [&str; 2] = ["instruction_following", "preference_following"];

/// How one question went.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    category: String,
    recall: f64,
    ndcg: f64,
}

/// The means over some questions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Means {
    pub(crate) questions: usize,
    pub(crate) recall: f64,
    pub(crate) ndcg: f64,
}

impl Outcome {
    /// Of what each place covers, best first, and what was needed.
    pub(crate) fn new(category: &str, found: &[Vec<String>], gold: &[String]) -> Self {
        let mut needed: BTreeSet<&String> = gold.iter().collect();
        let new: Vec<usize> = found
            .iter()
            .take(DEPTH)
            .map(|covered| covered.iter().filter(|id| needed.remove(id)).count())
            .collect();
        let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let reached: f64 =
            new.iter().enumerate().filter(|(_, new)| **new > 0).map(|(place, _)| gain(place)).sum();
        let ideal: f64 = (0..gold.len().min(DEPTH)).map(gain).sum();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let found: usize = new.iter().sum();
        Self {
            category: category.to_owned(),
            recall: share(found as f64, gold.len() as f64),
            ndcg: share(reached, ideal),
        }
    }
}

/// The figures of one set: all questions but adversarial ones, then each category.
pub(crate) fn rows(outcomes: &[Outcome]) -> Vec<(String, Means)> {
    let mut by_category: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        by_category.entry(&outcome.category).or_default().push(outcome);
    }
    let some = |wanted: &dyn Fn(&str) -> bool| -> Means {
        Means::of(&outcomes.iter().filter(|outcome| wanted(&outcome.category)).collect::<Vec<_>>())
    };
    let mut rows = vec![("all".to_owned(), some(&|category| category != ADVERSARIAL))];
    let unasked = some(&|category| UNASKED.contains(&category));
    if unasked.questions > 0 {
        rows.push(("instruction + preference".to_owned(), unasked));
    }
    rows.extend(
        by_category.iter().map(|(name, outcomes)| ((*name).to_owned(), Means::of(outcomes))),
    );
    rows
}

/// The same as JSON.
pub(crate) fn json_rows(rows: &[(String, Means)]) -> Value {
    let entry = |(name, means): &(String, Means)| {
        let figures = json!({
            "questions": means.questions,
            "recall_at_10": rounded(means.recall),
            "ndcg_at_10": rounded(means.ndcg),
        });
        (name.clone(), figures)
    };
    Value::Object(rows.iter().map(entry).collect())
}

fn rounded(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}

impl Means {
    fn of(outcomes: &[&Outcome]) -> Self {
        let mean = |figure: &dyn Fn(&Outcome) -> f64| {
            let sum: f64 = outcomes.iter().map(|outcome| figure(outcome)).sum();
            sum / outcomes.len().max(1) as f64
        };
        Self {
            questions: outcomes.len(),
            recall: mean(&|outcome| outcome.recall),
            ndcg: mean(&|outcome| outcome.ndcg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_what_is_found_and_ndcg_where() {
        let gold = ["a".to_owned(), "b".to_owned()];
        let each = |ids: &[&str]| -> Vec<Vec<String>> {
            ids.iter().map(|id| vec![(*id).to_owned()]).collect()
        };
        let first = Outcome::new("x", &each(&["a", "c", "d"]), &gold);
        let later = Outcome::new("x", &each(&["c", "d", "a"]), &gold);
        assert!((first.recall - 0.5).abs() < 1e-9 && (later.recall - 0.5).abs() < 1e-9);
        assert!(first.ndcg > later.ndcg && first.ndcg < 1.0);
        assert!((Outcome::new("x", &each(&["b", "a"]), &gold).ndcg - 1.0).abs() < 1e-9);
        let both = Outcome::new("x", &[vec!["c".to_owned()], gold.to_vec()], &gold);
        assert!((both.recall - 1.0).abs() < 1e-9, "one place may cover both");
    }

    #[test]
    fn the_headline_leaves_adversarial_questions_out() {
        let gold = ["a".to_owned()];
        let outcomes = [("plain", "a"), (ADVERSARIAL, "b")]
            .map(|(category, id)| Outcome::new(category, &[vec![id.to_owned()]], &gold));
        let rows = rows(&outcomes);
        assert_eq!(rows[0].0, "all");
        assert!((rows[0].1.recall - 1.0).abs() < 1e-9 && rows[0].1.questions == 1);
        assert_eq!(rows.len(), 3);
    }
}
