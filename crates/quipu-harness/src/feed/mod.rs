//! Reading Events: by their ids, by ranges, and as they happen.

pub(crate) mod event_feed;
pub(crate) mod range;
