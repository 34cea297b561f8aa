//! Speaks to Quipu from Rust: typed, async, and the same over HTTP as to a Field inside the process.
//!
//! ```no_run
//! # async fn example() -> Result<(), quipu_client::ClientError> {
//! use quipu_client::{Field, akashik::{MemoryType, RecordPayload}};
//!
//! let field = Field::connect("http://127.0.0.1:7070").key("quipu_…").build()?;
//! let ada = field.agent("ada", "researcher")?;
//! ada.join().await?;
//! let unit = RecordPayload::committed(
//!     MemoryType::Finding, "The harbour raised its fees.", "Plan the route", 0.8, "The notice says so",
//! );
//! ada.record(&unit).await?;
//! let context = ada.recall("what does the harbour cost").await?;
//! # Ok(()) }
//! ```
//!
//! A call is sent again after a lost connection, under the same message id, so that it is carried out
//! once ([`Retry`]). Streams go on where they were. This crate holds no rule of a Field: requests and
//! answers are the types of `quipu-wire`.

mod error;
#[cfg(feature = "embedded")]
mod handle;
mod ids;
mod limits;
mod net;

pub use error::{ClientError, Refusal, RefusalWords};
pub use handle::agent::Agent;
pub use handle::event_stream::EventStream;
pub use handle::field::{Connect, Field};
pub use handle::harn::{Dependency, Harn};
pub use handle::harn_events::Events;
pub use handle::pushes::Pushes;
pub use hyper::body::Bytes;
pub use net::retry::Retry;
pub use quipu_wire::{ErrorCode, ProtocolError, akashik, harn as harn_types};
