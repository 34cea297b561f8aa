//! What a caller may know of, and what of a resource it may see.

pub(crate) mod access;
pub(crate) mod counts;
pub(crate) mod memory;
pub(crate) mod parts;
pub(crate) mod quoting;
