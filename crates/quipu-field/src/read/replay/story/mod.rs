//! The argument behind something, in a few sentences and backward from it: what it rests on (`grounds`), what its author
//! had been shown (`attunes`), where that was disputed and how it ended (`dispute`), what became of it (`after`); tasks and
//! sessions by what was done in them (`work`). What is told is read from the log again (`reader`); `page` bounds the length.

mod after;
mod attunes;
mod dispute;
mod grounds;
mod page;
mod phrases;
mod reader;
mod summary;
mod work;

pub(super) use phrases::{NAME_CHARS, quoted};
pub(super) use reader::{Reader, StoryUnit};
pub(crate) use summary::summarize_chain;
