//! The closed schema of receipts, as our own table, and what in a value breaks it.

mod check;
mod shape;
mod table;

#[cfg(test)]
mod tests;

pub use check::Breach;
pub(crate) use check::check;
