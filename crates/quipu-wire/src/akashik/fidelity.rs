//! How much of what was summarized survives, as it was counted when the summary was written.

use serde::{Deserialize, Serialize};

/// How many things of one kind there were, and how many are still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Kept {
    /// How many the units named.
    pub of: u64,
    /// How many of them their summaries name.
    pub kept: u64,
}

impl Kept {
    /// Counts one more.
    pub fn count(&mut self, is_kept: bool) {
        self.of += 1;
        self.kept += u64::from(is_kept);
    }

    /// Adds what was counted elsewhere.
    pub const fn add(&mut self, other: Self) {
        self.of += other.of;
        self.kept += other.kept;
    }

    /// The share that is kept, where there was any.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of one COMPACT are far below 2^52")]
        let share = |kept: u64, of: u64| kept as f64 / of as f64;
        (self.of > 0).then(|| share(self.kept, self.of))
    }
}

/// How much of some units survives in the summaries that stand for them (Quipu's extension). Counted without a model.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fidelity {
    /// The mean of the shares below, of those that there is anything of; 1 where there is nothing.
    pub overall: f64,
    /// Names of people, places, things.
    pub entities: Kept,
    pub numbers: Kept,
    /// Days, months, years.
    pub dates: Kept,
    /// Decisions in force.
    pub decisions: Kept,
    /// Directives and constraints in force.
    pub rules: Kept,
    /// Statements, each with its most telling word left out, that were found among the first five before, and whose word
    /// is found among the first five afterwards.
    pub answers: Kept,
}

impl Fidelity {
    /// Adds what was counted of other units.
    pub fn add(&mut self, other: &Self) {
        self.entities.add(other.entities);
        self.numbers.add(other.numbers);
        self.dates.add(other.dates);
        self.decisions.add(other.decisions);
        self.rules.add(other.rules);
        self.answers.add(other.answers);
    }

    /// The same with its mean, in ten-thousandths.
    #[must_use]
    pub fn weighed(self) -> Self {
        let parts =
            [self.entities, self.numbers, self.dates, self.decisions, self.rules, self.answers];
        let shares: Vec<f64> = parts.into_iter().filter_map(Kept::share).collect();
        let count = u32::try_from(shares.len()).unwrap_or(1);
        let mean = if count == 0 { 1.0 } else { shares.iter().sum::<f64>() / f64::from(count) };
        Self { overall: (mean * 10_000.0).round() / 10_000.0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_what_there_was() {
        let some = Fidelity {
            numbers: Kept { of: 4, kept: 1 },
            rules: Kept { of: 1, kept: 1 },
            ..Fidelity::default()
        };
        assert!((some.weighed().overall - 0.625).abs() < 1e-9);
        assert!((Fidelity::default().weighed().overall - 1.0).abs() < 1e-9);
    }
}
