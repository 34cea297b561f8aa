//! The Harn protocol over a Field, through its public handle.
#![cfg(test)]

mod artifacts;
mod events;
mod feeds;
mod field_tasks;
mod lives;
mod makers;
mod receipts;
mod replay;
mod support;
mod tasks;
mod transcripts;
mod working;
