//! Storages for snapshots by their contract: a directory, and a real server that speaks S3.
#![cfg(test)]

mod directory;
mod nodes;
mod s3;
mod server;
