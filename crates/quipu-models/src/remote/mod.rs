//! Models behind an endpoint that speaks the OpenAI protocol.

mod breaker;
mod chat;
mod embeddings;
mod endpoint;
mod error;
mod judge;
mod summarizer;

pub use chat::ChatModel;
pub use embeddings::RemoteEmbedder;
pub use endpoint::{Endpoint, EndpointOptions};
pub use error::{CallError, EndpointError};
pub use judge::RemoteJudge;
pub use summarizer::RemoteSummarizer;
