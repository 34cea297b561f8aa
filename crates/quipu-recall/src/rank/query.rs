//! Owns the first stage of recall, what is asked: weighted distinct terms and the words they came from.
//! Knows no index; which terms are rare, and so which are scored, is decided there.

use std::collections::HashMap;

use crate::{limits::MAX_QUERY_TERMS, text::words::for_each_word};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    terms: Vec<QueryTerm>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    pub(crate) term: Box<str>,
    pub(crate) surface: Box<str>,
    pub(crate) weight: f32,
}

impl Query {
    /// Builds a query from texts and their weights, such as a hint at 1 and interests at 0.5.
    ///
    /// Within one part a word counts once; across parts its weights add up. Parts whose weight is
    /// not a positive number are left out. The heaviest [`MAX_QUERY_TERMS`] terms are kept, those
    /// met first where weights are equal.
    pub fn new(parts: &[(&str, f32)]) -> Self {
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut known: HashMap<Box<str>, (usize, usize)> = HashMap::new();
        for (part, (text, weight)) in parts.iter().enumerate() {
            if weight.is_nan() || *weight <= 0.0 {
                continue;
            }
            // Far from zero and from infinity, so that no product of a score under- or overflows.
            let weight = weight.clamp(1e-3, 1e3);
            for_each_word(text, |surface, term| match known.get_mut(term) {
                Some((_, last_part)) if *last_part == part => {}
                Some((at, last_part)) => {
                    *last_part = part;
                    if let Some(seen) = terms.get_mut(*at) {
                        seen.weight += weight;
                    }
                }
                None => {
                    known.insert(Box::from(term), (terms.len(), part));
                    terms.push(QueryTerm { term: term.into(), surface: surface.into(), weight });
                }
            });
        }
        // A stable sort keeps the order of the text among equals.
        terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        terms.truncate(MAX_QUERY_TERMS);
        Self { terms }
    }

    /// Whether there is nothing to search for; lexical scores then mean nothing.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How many distinct terms were kept.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// The terms, heaviest first.
    pub(crate) fn terms(&self) -> &[QueryTerm] {
        &self.terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(query: &Query) -> Vec<(&str, f32)> {
        query.terms().iter().map(|term| (&*term.surface, term.weight)).collect()
    }

    #[test]
    fn a_word_counts_once_in_a_part_and_adds_up_across_parts() {
        let query = Query::new(&[("growth market growth", 1.0), ("markets in Asia", 0.5)]);
        assert_eq!(weights(&query), [("market", 1.5), ("growth", 1.0), ("Asia", 0.5)]);
    }

    #[test]
    fn parts_without_a_positive_weight_are_left_out() {
        let nothing = [("a word", 0.0), ("two words", -1.0), ("three words", f32::NAN)];
        assert!(Query::new(&nothing).is_empty());
        assert!(Query::new(&[("", 1.0), ("of the", 1.0)]).is_empty());
    }

    #[test]
    fn a_huge_hint_becomes_a_bounded_query() {
        let hint: String = (0..200_000).map(|number| format!("{number} ")).collect();
        let query = Query::new(&[(&hint, 1.0), ("growth", 2.0)]);
        assert_eq!(query.len(), MAX_QUERY_TERMS);
        assert_eq!(weights(&query)[..2], [("growth", 2.0), ("0", 1.0)]);
    }
}
