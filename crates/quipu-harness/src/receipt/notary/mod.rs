//! The notary: gives every Task that ended its Outcome and its Receipt, whoever ended it, in one commit behind
//! the one that ended it, and also after a crash. Until then the Task counts as under way.

pub(crate) mod approvals;
pub(crate) mod bound;
pub(crate) mod effects;
pub(crate) mod issue;
pub(crate) mod model_usage;
pub(crate) mod outcome;
pub(crate) mod previous;
pub(crate) mod profile;
pub(crate) mod replay;
pub(crate) mod settle;
pub(crate) mod spending;
pub(crate) mod story;
