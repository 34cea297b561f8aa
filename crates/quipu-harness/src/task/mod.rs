//! Tasks as they are read, and what they keep of the module that works on them.

pub(crate) mod artifact;
pub(crate) mod installed_module;
pub(crate) mod tasks;
