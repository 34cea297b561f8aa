//! The judges themselves: what a sound cluster could have answered passes, and each kind of fault is caught.

#![cfg(test)]

mod deciding;
mod faults;
mod sim;
mod sound;
mod state;
