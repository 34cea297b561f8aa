//! Doors that stood open once: what somebody with a real key, and no right to it, tried from outside. One file for each
//! door; each test was seen to fail before its door was closed.

mod bytes;
mod harn_actor;
mod policy_objects;
mod receipt_names;
mod secrets;
