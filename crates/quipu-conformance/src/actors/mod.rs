//! What cases are written with: agents, sessions, units, tasks, the Field under test, and checks of its answers.

pub(crate) mod agent;
pub(crate) mod case;
pub(crate) mod check;
pub(crate) mod dispute;
pub(crate) mod ids;
pub(crate) mod json;
pub(crate) mod room;
pub(crate) mod subscription;
pub(crate) mod target;
pub(crate) mod task;
pub(crate) mod unit;
