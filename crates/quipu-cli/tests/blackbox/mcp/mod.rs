//! `quipu mcp` as a host meets it: started as a process, spoken to through its standard streams.

mod host;
mod sharing;
mod starting_crash;
mod working;

pub(crate) use host::Host;
