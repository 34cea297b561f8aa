//! Replay over the log, through the handle alone: recordings, replays in each mode, by the server and by
//! workers, what is missing, and what comes of it.

mod altered;
mod exchange;
mod fingerprints;
mod imports;
mod in_process;
mod missing;
mod overrides;
mod resolve_access;
pub(crate) mod runs;
mod strict;
mod workers;
