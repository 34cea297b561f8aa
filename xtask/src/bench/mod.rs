//! `cargo xtask bench`: Quipu's own figures, the others beside it, and the page that is written from both.
//! It owns what is run and in which order; what is measured, and how, is the business of `quipu-bench` and of `bench/peers`.

mod about;
mod options;
mod own;
mod run;

pub(crate) use options::USAGE;
pub(crate) use run::run;
