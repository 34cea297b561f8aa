//! The Harn protocol over a Field, through its public handle.
#![cfg(test)]

mod artifacts;
mod events;
mod feeds;
mod field_tasks;
mod holding;
mod live_clients;
mod lives;
mod makers;
mod modules;
mod nodes;
mod one_visibility;
mod purged_meanwhile;
mod quoting;
mod receipts;
mod replay;
mod resuming;
mod spending;
mod support;
mod tasks;
mod tools;
mod transcripts;
mod working;
mod workspace_files;
