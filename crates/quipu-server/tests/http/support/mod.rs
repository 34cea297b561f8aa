//! What the tests share: a server, a client, and payloads that are right.

mod client;
mod payloads;
mod push;
mod server;
mod wait;

pub(crate) use client::{Client, Reply, Stream};
pub(crate) use payloads::{attune, committed, draft, envelope, register};
pub(crate) use push::{Events, Frame, SentEvent, Socket, path};
pub(crate) use server::{Setup, TestServer};
pub(crate) use wait::{wait_for, wait_until};
