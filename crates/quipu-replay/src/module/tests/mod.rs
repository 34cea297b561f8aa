//! What modules do, through the crate's public functions.

mod compiling;
mod documented;
pub(super) mod modules;
mod properties;
mod refusing;
mod replaying;
mod running;
mod suspending;
