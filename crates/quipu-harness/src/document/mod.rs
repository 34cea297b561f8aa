//! Resources that are kept as documents: one is read by its id, many as a page, each as its caller may see it; and
//! the bytes of Artifacts.

pub(crate) mod content;
pub(crate) mod resource;
