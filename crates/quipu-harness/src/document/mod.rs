//! Resources that are kept as documents: one is read by its id, many as a page, each as its caller may see it; who
//! may write those that others work under; and the bytes of Artifacts.

pub(crate) mod content;
pub(crate) mod holding;
pub(crate) mod ownership;
pub(crate) mod resource;
