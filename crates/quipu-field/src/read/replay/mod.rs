//! How something came about, read from the log alone: which events belong to it (`links`, `chain`, `pages`), what
//! each of them was (`describe`, `narrate`, `texts`), the reasons that were given (`reasons`), and the argument that they make
//! (`places`, `story`). No state, no index, no snapshot; but for the question what would have been without some of
//! it (`without`).

pub(crate) mod answer;
mod chain;
mod describe;
mod linked;
mod links;
mod narrate;
mod pages;
mod places;
mod reasons;
mod story;
mod texts;
pub(crate) mod without;

pub(crate) use chain::{Chain, Found, Trace, trace};
pub(crate) use linked::linked;
pub(crate) use links::Target;
pub(crate) use narrate::narrate;
pub(crate) use story::summarize_chain;
