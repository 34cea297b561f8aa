//! Work on Tasks: submitted, claimed and ended by agents, by modules, or by the Field itself.

pub(crate) mod answers;
pub(crate) mod delivery;
pub(crate) mod field_run;
pub(crate) mod leases;
pub(crate) mod message;
pub(crate) mod module;
pub(crate) mod submit;
pub(crate) mod terms;
pub(crate) mod worker;
pub(crate) mod worker_output;
pub(crate) mod worker_record;
