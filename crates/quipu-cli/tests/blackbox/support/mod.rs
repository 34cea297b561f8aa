//! What the tests share: a server that is started and killed, a client, commands, payloads, waiting.

mod client;
mod command;
mod dice;
mod http;
mod payloads;
mod server;
mod wait;

pub(crate) use client::{Client, Message};
pub(crate) use command::{Finished, binary, quipu, verify_is_green};
pub(crate) use dice::Dice;
pub(crate) use http::{Answer, Connection};
pub(crate) use payloads::{draft, finding, keys_of, refused, relating, scope, units_of};
pub(crate) use server::{Server, Settings};
pub(crate) use wait::wait_until;
