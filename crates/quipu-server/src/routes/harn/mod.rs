//! The Harn Agents Protocol over HTTP: the way in, and one file per resource. What a resource is, and what
//! becomes of it, is `quipu-harness`'s.

mod agent_card;
mod artifacts;
mod branches;
mod connectors;
mod credentials;
mod discovery;
mod document;
mod entrance;
mod events;
mod listing;
mod live_clients;
mod memories;
mod messages;
mod outcomes;
mod path;
mod permission_requests;
mod permissions;
mod personas;
mod provider_catalog;
mod query;
mod quotas;
mod receipts;
mod replay;
mod runtime;
mod sessions;
mod skills;
mod stream_sse;
mod stream_ws;
mod streams;
mod table;
mod tasks;
mod tools;
mod upgrade;
mod vaults;
mod work;
mod workspace_files;
mod workspaces;

pub(crate) use document::security_scheme;
pub(crate) use table::routes;
