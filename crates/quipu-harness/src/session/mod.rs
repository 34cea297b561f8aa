//! Sessions and what is said in them.

pub(crate) mod facts;
pub(crate) mod fork;
pub(crate) mod message;
pub(crate) mod sessions;
pub(crate) mod transcript;
pub(crate) mod view;
