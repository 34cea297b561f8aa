//! Notifications: from the stream of a subscription to the clients that listen.

mod feed;
mod push_reader;
pub(crate) mod subscriptions;

pub use push_reader::PushReader;
