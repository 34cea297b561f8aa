//! Permissions: the policy, the rules that remember what was answered, questions of workers and their answers,
//! and the history of what was decided.

mod audit;
mod check;
mod pattern;
mod policy;
mod request;
mod respond;
mod rules;
mod tool_use;

pub use audit::AuditFilter;
pub use request::PermissionFilter;
pub(crate) use tool_use::ToolUse;
