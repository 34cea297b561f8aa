//! NATS JetStream as the log: one stream for each field, replicated where there are servers enough.
//!
//! ```text
//! stream QUIPU_f      sequence  1         2         3               4         5               6
//!                               body of   body of   group 1..2      body of   group 3..3      fence
//!                               1, ev. 0  2, ev. 0  (both headers)  3, ev. 0  (one header)
//! subject             quipu.f.  b         b         h               b         h               f
//! ```
//!
//! An append is one atomic batch that names the stream's last sequence: the bodies first, each a message of its own so
//! that it can be erased, then a *group* with the headers of all commits. What no group counts as its own was never
//! appended. A *fence* holds nothing: it only moves the last sequence, so that an append whose outcome was unknown can
//! not happen any more. A *seal* ends the log. Notes have a stream of their own.

mod address;
mod api;
mod append;
mod engine;
mod erase;
mod fitness;
mod locate;
mod message;
mod notes;
mod read;
mod stream;
mod tail;
mod turn;
mod turn_queue;
mod watch;

pub use engine::NatsEngine;
