//! How something came about, read from the log alone: which events belong to it (`links`, `chain`, `pages`), what
//! each of them was (`describe`, `telling`, `texts`), and the story that they make (`story`). No state, no index,
//! no snapshot.

mod chain;
mod describe;
mod linked;
mod links;
mod pages;
mod story;
mod telling;
mod texts;

pub(crate) use chain::{Chain, Found, Hidden, Trace, trace};
pub(crate) use linked::linked;
pub(crate) use links::Target;
pub(crate) use story::tell;
pub(crate) use telling::told;
