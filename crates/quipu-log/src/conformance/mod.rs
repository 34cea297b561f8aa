//! The behaviour suite that every engine runs: one function per behaviour, one macro line per engine.
//!
//! ```text
//! quipu_log::engine_suite!(memory, quipu_log::conformance::MemoryFactory);
//! ```

mod altered;
mod appending;
mod copying;
mod erasing;
mod factory;
mod noting;
mod reading;
mod sample;
mod sharing;
mod suite;
mod turns;

pub use altered::Altered;
pub use appending::*;
pub use copying::*;
pub use erasing::*;
pub use factory::{EngineFactory, MemoryFactory, SqliteFactory};
pub use noting::*;
pub use reading::*;
pub use sample::{Chain, field};
pub use sharing::*;
pub use turns::*;
