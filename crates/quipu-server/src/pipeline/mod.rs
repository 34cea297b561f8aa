//! What every request goes through: id, credentials, limits, choice of a Field, the answer.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod entrance;
pub(crate) mod errors;
pub(crate) mod field_choice;
pub(crate) mod harn_answer;
pub(crate) mod harn_refusal;
pub(crate) mod harnesses;
pub(crate) mod leads;
pub(crate) mod options;
pub(crate) mod paths;
pub(crate) mod position;
pub(crate) mod request;
pub(crate) mod request_id;
pub(crate) mod route;
pub(crate) mod sender;
pub(crate) mod state;
pub(crate) mod stream_permits;
pub(crate) mod throttle;
