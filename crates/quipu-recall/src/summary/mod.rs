//! Short texts from long ones, and what fits into a budget.

pub mod budget;
pub(crate) mod extract;
pub mod summarize;
pub(crate) mod summarizer;
