//! What the tests share: a server that is started and killed, a client, commands, payloads, waiting.

mod command;
mod dice;
mod payloads;
mod python;
mod server;

pub(crate) use quipu_testbed::{Answer, Client, Connection, Message, wait_until};

pub(crate) use command::{Finished, binary, quipu, verify_is_green};
pub(crate) use dice::Dice;
pub(crate) use payloads::{draft, finding, keys_of, refused, relating, scope, units_of};
pub(crate) use python::{Python, run};
pub(crate) use server::{Server, Settings};
