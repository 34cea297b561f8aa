//! Doors that were open once: what a key did not allow and a caller could do all the same.

mod one_visibility;
mod roles;
mod team;
