//! What every request goes through: id, credentials, limits, choice of a Field, the answer.

pub(crate) mod answer;
pub(crate) mod auth;
pub(crate) mod entrance;
pub(crate) mod errors;
pub(crate) mod field_choice;
pub(crate) mod paths;
pub(crate) mod position;
pub(crate) mod request;
pub(crate) mod request_id;
pub(crate) mod sender;
pub(crate) mod throttle;
