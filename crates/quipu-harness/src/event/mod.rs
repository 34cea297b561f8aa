//! Events as this protocol tells them: what a commit of the log says, and which Events a reader asks for.

pub(crate) mod commits;
pub(crate) mod event_log;
pub(crate) mod narrate;
pub(crate) mod narrator;
pub(crate) mod position;
pub(crate) mod scope;
