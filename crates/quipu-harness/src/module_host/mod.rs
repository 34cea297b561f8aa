//! Where modules run: each in a process of its own, or nowhere. Knows nothing of Tasks.

mod ending;
pub(crate) mod host;
mod process;
pub(crate) mod processes;
mod watch;

#[cfg(test)]
mod tests;
