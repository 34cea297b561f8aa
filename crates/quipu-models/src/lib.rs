//! Model back-ends. All of them are optional, and all of them may fail: whoever uses one goes on
//! without it. A local transformer ([`LocalModel`]), and whatever speaks the OpenAI protocol
//! ([`RemoteEmbedder`], [`RemoteSummarizer`], [`RemoteJudge`]).
//!
//! This crate knows nothing of Fields, units or storage. Everything here waits for its answer, so
//! none of it may be called by a thread that serves sockets.

mod clock;
mod http;
mod limits;
mod remote;
mod transformer;

pub use http::{Address, AddressError};
pub use remote::{
    CallError, ChatModel, Endpoint, EndpointError, EndpointOptions, RemoteEmbedder, RemoteJudge,
    RemoteSummarizer,
};
pub use transformer::{DirectoryError, LocalModel};

#[cfg(feature = "testing")]
pub mod testing;
