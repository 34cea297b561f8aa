//! How something came about, read from the log alone: which events belong to it (`links`, `chain`), what
//! each of them was (`describe`), and the story that they make (`story`). No state, no index, no snapshot.

mod chain;
mod describe;
mod links;
mod story;

pub(crate) use chain::{Chain, Found, Hidden, Trace, trace};
pub(crate) use describe::{Told, describe};
pub(crate) use links::Target;
pub(crate) use story::tell;
