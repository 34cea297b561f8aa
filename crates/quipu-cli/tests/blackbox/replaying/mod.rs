//! Replay from outside, over HTTP alone: a run is recorded, replayed in each mode, and its receipts are checked
//! by a script that shares no code with ours.

mod altered;
mod harn;
mod modes;
mod regression;
mod servers;
