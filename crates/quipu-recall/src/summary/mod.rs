//! Short texts from long ones, and what fits into a budget.

pub mod budget;
pub mod condense;
pub(crate) mod extract;
pub mod facts;
pub mod summarize;
pub(crate) mod summarizer;
