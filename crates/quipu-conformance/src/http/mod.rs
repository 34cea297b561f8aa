//! A small blocking HTTP/1.1 client over a plain socket: kept-alive requests, event streams, WebSockets.
//! Written by hand because a client crate would be larger than the whole suite. No TLS, no redirects.

mod body;
mod client;
mod events;
mod head;
mod url;
mod websocket;

pub(crate) use client::{Client, Reply};
pub(crate) use events::{EventStream, StreamEvent};
pub(crate) use url::BaseUrl;
