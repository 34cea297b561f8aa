//! What a caller may see of a resource, and what is quoted to it.

pub(crate) mod quoting;
pub(crate) mod shown;
