//! Tasks: submitted, claimed, worked on by agents, modules or the Field itself.

pub(crate) mod field_run;
pub(crate) mod message;
pub(crate) mod module;
pub(crate) mod submit;
pub(crate) mod tasks;
pub(crate) mod work;
pub(crate) mod worker_record;
