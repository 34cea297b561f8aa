//! What subscribers are sent, and how: derived from the log by position, so that whoever resumes sees
//! each event once. Knows nothing of sockets; a surface asks a [`PushStream`] for what is next.
//!
//! `notices` is the table from what happened to what is sent; `prepared` makes a commit ready for all
//! subscribers at once; `tail` keeps the recent ones; `stream` is one subscriber's way through them.

mod debounce;
mod heads;
mod notices;
mod prepared;
mod relevance;
mod stream;
mod tail;

pub(crate) use stream::Target;
pub use stream::{Delivery, End, PushStream};
pub(crate) use tail::{Tail, TailFeed};
