//! Several nodes over one log: they agree, whatever happens between them and the engine.

mod agree;
mod broken;
mod cluster;
mod fair;
mod metering;
mod sharing;
mod workers;
