//! Owns how much of what is asked one text answers, looked at alone. Unlike a BM25 score it does not
//! depend on the other documents, so it is the same today and when an old event is looked at again.

use crate::{
    analyze::Analyzed,
    rank::{query::Query, score::unit},
};

/// The share of the query's weight whose terms the text has, from 0 to 1; 0 where nothing is asked.
pub fn coverage(query: &Query, text: &Analyzed) -> f32 {
    let (mut all, mut found) = (0.0, 0.0);
    for term in query.terms() {
        all += term.weight;
        if text.has(&term.term) {
            found += term.weight;
        }
    }
    if all > 0.0 { unit(found / all) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::analyze;

    #[test]
    fn is_the_share_of_the_weight_that_is_found() {
        let query = Query::new(&[("market growth", 0.5), ("ships", 1.0)]);
        let of = |text: &str| coverage(&query, &analyze(text));
        assert!((of("Ships at sea") - 0.5).abs() < 1e-6);
        assert!((of("the growing market for ships, growth") - 1.0).abs() < 1e-6);
        assert!(of("nothing of it").abs() < 1e-6);
        assert!(coverage(&Query::new(&[]), &analyze("ships")).abs() < 1e-6);
    }
}
