//! How sure a verdict must be. A Field may ask for more, or be content with less.

/// The sureness from which a verdict counts by default. On chat that contradicts itself hardly ever
/// it is passed by less than one unit in a thousand (`docs/detection.md`).
pub const SURENESS: f64 = 0.6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// The least sureness of a verdict, from 0 to 1.
    pub sureness: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { sureness: SURENESS }
    }
}
