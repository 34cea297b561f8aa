//! What was attacked from outside with real keys, and holds.

mod long_work;
mod modules;
mod signals_crash;
