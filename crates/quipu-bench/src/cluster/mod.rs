//! How many units several nodes over one log record, and how far they are apart.

pub(crate) mod baseline;
pub(crate) mod catch_up;
pub(crate) mod lag;
pub(crate) mod meters;
pub(crate) mod run;
