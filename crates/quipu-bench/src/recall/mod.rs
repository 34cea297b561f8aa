//! How much of what a question needs ATTUNE finds, on labelled data.

pub(crate) mod figures;
pub(crate) mod play;
pub(crate) mod quality;
pub(crate) mod run;
