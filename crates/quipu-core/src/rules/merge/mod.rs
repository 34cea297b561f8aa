//! What MERGE works with: a conflict and its two units, who of them prevails, votes, the answer. The
//! rule itself is in `rule`.

mod case;
mod error;
mod respond;
mod rule;
mod steps;
mod vote;
mod winner;

pub use case::Evidence;
pub(crate) use case::{Case, Side};
pub use error::Error;
pub use respond::respond;
pub(crate) use rule::is_same;
pub use rule::{MergeCommand, decide};
pub(crate) use steps::{
    begin, escalate, may_favour, may_give_way, may_replace, may_settle, replace, resolved, settle,
};
pub(crate) use vote::{Voter, cast};
pub(crate) use winner::prevailing;
