//! The Harn protocol over a Field, through its public handle.
#![cfg(test)]

mod artifacts;
mod receipts;
mod support;
