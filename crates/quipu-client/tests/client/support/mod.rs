//! What the tests share: a server in this process, and one that says what it is told to.

mod script;
mod server;

pub(crate) use script::{Script, json, whole};
pub(crate) use server::TestServer;
