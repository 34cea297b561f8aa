//! Events as the protocol tells them, by scope and range, and as a feed.

pub(crate) mod events;
pub(crate) mod feed;
pub(crate) mod range;
pub(crate) mod scope;
