//! `quipu move` between a data directory, PostgreSQL and NATS: nothing changes on the way, whatever happens on the way.

mod crash;
mod refusals;
mod round_trip;
mod work;
