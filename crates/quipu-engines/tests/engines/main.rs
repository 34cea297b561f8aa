//! The engines over real servers: started, killed, cut off and started again by the tests themselves.
#![cfg(test)]

mod agree;
mod nats;
mod postgres;
mod support;
