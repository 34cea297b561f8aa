//! Where the free text of an event is read from. The state holds none, so that a text can be erased.

use std::sync::Arc;

use serde::de::DeserializeOwned;

/// Stands where a text was erased.
pub const ERASED: &str = "(erased)";

/// Reads the free text of events from wherever the log keeps it.
pub trait Texts {
    type Error;

    /// The text of an event, by the position of its commit and its index there; nothing where it was erased.
    fn load<T: DeserializeOwned>(
        &self,
        position: u64,
        event: u32,
    ) -> Result<Option<T>, Self::Error>;
}

impl<T: Texts> Texts for Arc<T> {
    type Error = T::Error;

    fn load<U: DeserializeOwned>(&self, position: u64, event: u32) -> Result<Option<U>, T::Error> {
        (**self).load(position, event)
    }
}
