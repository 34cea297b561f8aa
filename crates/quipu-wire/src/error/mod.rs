//! Errors as they go over the wire, and the one table of their codes.

pub mod error_code;
pub mod protocol_error;
