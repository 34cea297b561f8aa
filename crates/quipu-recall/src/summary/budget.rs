//! Owns how a budget of tokens is spent: best first, each in the largest form that still fits.
//! Counts no tokens itself and makes no summary.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: usize,
}

impl Budget {
    pub const fn new(tokens: usize) -> Self {
        Self { left: tokens }
    }

    pub const fn left(&self) -> usize {
        self.left
    }

    /// Pays for the first of `forms` that fits, given what each costs, the largest first; which one,
    /// or nothing where none fits. What does not fit does not stop smaller things after it.
    ///
    /// A cost is only asked for where all before it did not fit.
    pub fn spend(&mut self, forms: impl IntoIterator<Item = usize>) -> Option<usize> {
        let (form, cost) = forms.into_iter().enumerate().find(|(_, cost)| *cost <= self.left)?;
        self.left -= cost;
        Some(form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(things: &[&[usize]], tokens: usize, expected: &[Option<usize>]) {
        let mut budget = Budget::new(tokens);
        let taken: Vec<_> = things.iter().map(|forms| budget.spend(forms.to_vec())).collect();
        assert_eq!(taken, expected);
    }

    #[test]
    fn takes_whole_things_first_then_smaller_forms_then_nothing() {
        check(&[&[50, 10], &[60, 20], &[70, 40]], 80, &[Some(0), Some(1), None]);
    }

    #[test]
    fn the_first_is_made_smaller_rather_than_dropped() {
        check(&[&[1000, 90, 30], &[20, 5]], 40, &[Some(2), Some(1)]);
    }

    #[test]
    fn a_small_thing_still_fits_after_a_large_one_did_not() {
        check(&[&[1000, 500], &[20]], 40, &[None, Some(0)]);
        check(&[&[], &[0]], 0, &[None, Some(0)]);
    }
}
