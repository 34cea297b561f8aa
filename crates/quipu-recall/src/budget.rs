//! Owns which of the ranked units are given in full, which as a summary, and which not at all.
//! Counts no tokens itself and makes no summary.

/// What one unit costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Tokens of the whole unit.
    pub full_tokens: usize,
    /// Tokens of its summary; 0 where it has none.
    pub summary_tokens: usize,
}

/// How one unit is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The whole text.
    Full,
    /// The summary in its place.
    Summary,
    /// Not given.
    LeftOut,
}

/// Goes through `items` in rank order: whole where that still fits, else the summary, else nothing.
///
/// The tokens of what is given never exceed `max_tokens`. A unit that does not fit does not stop
/// smaller ones after it. The answer has one entry per item.
pub fn fit(items: &[Item], max_tokens: usize) -> Vec<Fit> {
    let mut left = max_tokens;
    let mut fits = Vec::with_capacity(items.len());
    for item in items {
        let (fit, tokens) = if item.full_tokens <= left {
            (Fit::Full, item.full_tokens)
        } else if item.summary_tokens > 0 && item.summary_tokens <= left {
            (Fit::Summary, item.summary_tokens)
        } else {
            (Fit::LeftOut, 0)
        };
        left -= tokens;
        fits.push(fit);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(items: &[(usize, usize)], max_tokens: usize, expected: &[Fit]) {
        let items: Vec<Item> = items
            .iter()
            .map(|&(full_tokens, summary_tokens)| Item { full_tokens, summary_tokens })
            .collect();
        assert_eq!(fit(&items, max_tokens), expected);
    }

    #[test]
    fn gives_whole_units_first_then_summaries_then_nothing() {
        check(&[(50, 10), (60, 20), (70, 40)], 80, &[Fit::Full, Fit::Summary, Fit::LeftOut]);
    }

    #[test]
    fn the_first_unit_is_summarised_rather_than_dropped() {
        check(&[(1000, 30), (20, 5)], 40, &[Fit::Summary, Fit::Summary]);
    }

    #[test]
    fn a_small_unit_still_fits_after_a_large_one_did_not() {
        check(&[(1000, 500), (20, 5)], 40, &[Fit::LeftOut, Fit::Full]);
    }

    #[test]
    fn a_unit_without_a_summary_is_left_out_and_an_empty_one_is_free() {
        check(&[(10, 0), (0, 0)], 0, &[Fit::LeftOut, Fit::Full]);
    }
}
