//! The notary: gives every Task that ended its Outcome and its Receipt, whoever ended it, in one commit behind
//! the one that ended it, and also after a crash. Until then the Task is not told to have ended.

mod approvals;
mod effects;
mod issue;
mod outcome;
mod previous;
mod profile;
mod settle;
mod spending;
mod story;

pub(crate) use issue::final_artifact;
pub(crate) use previous::{is_replay, previous_receipt};
