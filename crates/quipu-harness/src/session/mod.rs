//! Sessions, their branches and forks, and what is said in them.

pub(crate) mod branch;
pub(crate) mod fork;
pub(crate) mod inputs;
pub(crate) mod live;
pub(crate) mod message;
pub(crate) mod sessions;
pub(crate) mod transcript;
pub(crate) mod view;
