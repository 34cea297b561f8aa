//! How much two statements are about the same thing: which topics they share and which only one has.

use super::statement::{Statement, Topic};

#[derive(Debug)]
pub(super) struct Overlap<'s> {
    /// Topics of the first that the second has too.
    pub(super) shared: Vec<&'s Topic>,
    /// Topics that only the first has.
    pub(super) only_a: Vec<&'s Topic>,
    /// Topics that only the second has.
    pub(super) only_b: Vec<&'s Topic>,
    weights: (f32, f32, f32),
}

impl<'s> Overlap<'s> {
    /// Compares the topics of two statements.
    pub(super) fn new(a: &'s Statement<'_>, b: &'s Statement<'_>) -> Self {
        let has = |topics: &[Topic], stem: &str| topics.iter().any(|topic| topic.stem == stem);
        let (shared, only_a): (Vec<_>, Vec<_>) =
            a.topics.iter().partition(|topic| has(&b.topics, &topic.stem));
        let only_b: Vec<_> = b.topics.iter().filter(|topic| !has(&a.topics, &topic.stem)).collect();
        let sum = |topics: &[&Topic]| topics.iter().map(|topic| topic.weight).sum();
        let weights = (sum(&shared), sum(&only_a), sum(&only_b));
        Self { shared, only_a, only_b, weights }
    }

    /// The share of all topics that both have, from 0 to 1, leaving out words that were compared
    /// apart. Leaving a word out on one side costs nothing: what differs there is the point.
    pub(super) fn sameness(&self, left_out: &[&Topic]) -> f32 {
        let out = |topics: &[&Topic]| -> f32 {
            let among =
                |topic: &&&Topic| left_out.iter().any(|other| std::ptr::eq(**topic, *other));
            topics.iter().filter(among).map(|topic| topic.weight).sum()
        };
        let (shared, a, b) = self.weights;
        let (a, b) = (a - out(&self.only_a), b - out(&self.only_b));
        let all = 2.0 * shared + a.max(0.0) + b.max(0.0);
        if all > 0.0 { (2.0 * shared / all).clamp(0.0, 1.0) } else { 0.0 }
    }

    pub(super) fn count(&self) -> usize {
        self.shared.len()
    }
}
