//! A sentence transformer in pure Rust: BERT's forward pass over weights from a directory.

mod activation;
mod config;
mod encoder;
mod error;
mod layer;
mod local;
mod matmul;
mod safetensors;

pub use error::DirectoryError;
pub use local::LocalModel;
