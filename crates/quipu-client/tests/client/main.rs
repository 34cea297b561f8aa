//! The client from outside: against a server in this process, against a Field inside the process, and
//! against servers that misbehave.
#![cfg(test)]

mod both_ways;
mod directory;
mod examples;
mod hostile;
mod moving;
mod resuming;
mod support;
