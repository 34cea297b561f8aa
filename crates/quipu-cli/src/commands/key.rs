//! `quipu key`: the keys of a data directory, also while a server runs on it. Secrets are shown once.

use std::fmt;

use clap::{Args, Subcommand};
use quipu_log::FieldName;
use quipu_server::secrets::keys::{KeyAgent, KeyInfo, KeyStore, KeyStoreError, NewKey};
use quipu_wire::json::timestamp;

use crate::{
    storage::{
        data_dir::{self, DataArgs},
        log_address::LogAddress,
    },
    ui::{failure::Failure, output},
};

const ABOUT: &str = "\
Make, list and revoke the keys that callers prove themselves with.

A key speaks for one agent or for any, has an authority from 0 to 10, and may be bound to one field.
A role that it gives is believed where sessions have rules for roles; what an agent only says of
itself is not. Only its hash is stored. A running server notices a new or revoked key within a second.

Nodes whose log is on a server share their keys: name that log with --log, and every node knows.

Example:
  quipu key create --data ./quipu-data --agent ada --authority 4
  quipu key create --log postgres://user@host/database --agent ada --authority 4
  quipu key list --data ./quipu-data
  quipu key revoke --data ./quipu-data k7d2m9xq";

const CREATE: &str = "\
Make a key and print it, alone, on the last line. It cannot be shown again.

Roles are for sessions that have rules for them (`--role reviewer`). A key for any agent with
authority 8 or more says itself who has which role.

Authority: 2 asks and records drafts, 4 records and looks for conflicts, 8 makes fields, 10 is an
operator's.

Example:
  export QUIPU_KEY=$(quipu key create --agent ada --authority 4 | tail -n 1)";

const CREATE_AFTER: &str = "\
Use it:
  curl -s http://127.0.0.1:7070/v1/field/status -H \"Authorization: Bearer $QUIPU_KEY\"";

const LIST: &str = "\
List all keys, also the revoked ones, without their secrets.

Example:
  quipu key list --data ./quipu-data";

const REVOKE: &str = "\
Revoke a key for ever. A running server refuses it within a second.

Example:
  quipu key revoke --data ./quipu-data k7d2m9xq";

/// The arguments of `quipu key`.
#[derive(Debug, Args)]
#[command(about = "Make, list and revoke keys", long_about = ABOUT)]
pub(crate) struct KeyArgs {
    /// What to do with keys.
    #[command(subcommand)]
    pub(crate) action: KeyAction,
}

/// What can be done with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Make a key
    #[command(long_about = CREATE, after_help = CREATE_AFTER)]
    Create(CreateArgs),
    /// List all keys, without their secrets
    #[command(long_about = LIST)]
    List(KeyStoreArgs),
    /// Revoke a key for ever
    #[command(long_about = REVOKE)]
    Revoke(RevokeArgs),
}

/// Where the keys are.
#[derive(Debug, Args)]
pub(crate) struct KeyStoreArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The log on a server whose nodes share the keys: the address that `quipu serve` was given
    #[arg(long, env = "QUIPU_LOG", hide_env_values = true, value_name = "URL")]
    log: Option<String>,
}

/// The arguments of `quipu key create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    place: KeyStoreArgs,
    /// The agent that the key speaks for; '*' for any
    #[arg(long, value_name = "ID")]
    agent: String,
    /// What it may do, from 0 to 10
    #[arg(long, value_name = "0..10", value_parser = clap::value_parser!(u8).range(0..=10))]
    authority: u8,
    /// The only field that it is good for
    #[arg(long, value_name = "NAME")]
    field: Option<FieldName>,
    /// A note for the list
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// A role that the key gives to the agents that use it, for sessions whose rules depend on roles; may be repeated
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
}

/// The arguments of `quipu key revoke`.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    place: KeyStoreArgs,
    /// The key's id, as `quipu key list` shows it
    #[arg(value_name = "ID")]
    id: String,
}

pub(crate) fn key(action: KeyAction) -> Result<(), Failure> {
    match action {
        KeyAction::Create(args) => create(args),
        KeyAction::List(place) => list(&place),
        KeyAction::Revoke(args) => revoke(&args.place, &args.id),
    }
}

fn create(args: CreateArgs) -> Result<(), Failure> {
    let store = args.place.open(false)?;
    let (agent, label) = (KeyAgent::from(args.agent), args.label);
    let (authority, field, roles) = (args.authority, args.field, args.roles);
    let new = NewKey { agent, authority, field, label, roles };
    let issued = store.create(new).map_err(|error| key_failure(&error))?;
    let (whom, what) = describe(&issued.info);
    let roles = if issued.info.roles.is_empty() {
        String::new()
    } else {
        format!("It gives the role {}.\n", role_text(&issued.info.roles, " or "))
    };
    output::print(&format!(
        "Key {} speaks for {whom}, with authority {}, in {what}.\n{roles}\
         Keep it now: only its hash is stored, it cannot be shown again.\n{}\n",
        issued.info.id, issued.info.authority, issued.secret
    ))
}

fn describe(key: &KeyInfo) -> (String, String) {
    let whom = match &key.agent {
        KeyAgent::Any => "any agent".to_owned(),
        KeyAgent::Named(agent) => format!("agent {}", output::harmless(agent)),
    };
    let what = key
        .field
        .as_ref()
        .map_or_else(|| "every field".to_owned(), |field| format!("field {field}"));
    (whom, what)
}

fn role_text(roles: &[String], between: &str) -> String {
    let roles: Vec<String> = roles.iter().map(|role| output::harmless(role)).collect();
    roles.join(between)
}

fn list(place: &KeyStoreArgs) -> Result<(), Failure> {
    let keys = place.open(true)?.list().map_err(|error| key_failure(&error))?;
    if keys.is_empty() {
        return output::print(&format!("There are no keys in {place}.\n"));
    }
    let header = ["ID", "AGENT", "AUTHORITY", "ROLES", "FIELD", "CREATED", "STATE", "LABEL"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(keys.iter().map(row));
    output::print(&output::table(&rows))
}

fn row(key: &KeyInfo) -> Vec<String> {
    let state = key.revoked_at_ms.map_or_else(
        || "valid".to_owned(),
        |revoked| format!("revoked {}", timestamp::rfc3339(revoked)),
    );
    vec![
        key.id.clone(),
        output::harmless(&key.agent.to_string()),
        key.authority.to_string(),
        role_text(&key.roles, ", "),
        key.field.as_ref().map_or_else(|| "*".to_owned(), ToString::to_string),
        timestamp::rfc3339(key.created_at_ms),
        state,
        output::harmless(key.label.as_deref().unwrap_or_default()).replace('\n', " "),
    ]
}

fn revoke(place: &KeyStoreArgs, id: &str) -> Result<(), Failure> {
    if place.open(true)?.revoke(id).map_err(|error| key_failure(&error))? {
        return output::print(&format!(
            "Key {id} is revoked. A running server refuses it within a second.\n"
        ));
    }
    let option = match &place.log {
        Some(_) => "--log URL".to_owned(),
        None => format!("--data {}", place.data.data.display()),
    };
    Err(Failure::new(format!("there is no valid key {id:?} in {place}"))
        .advise(format!("`quipu key list {option}` shows the ids")))
}

impl KeyStoreArgs {
    /// Opens the keys; those of a directory only if it is there, where they are not to be made.
    fn open(&self, must_exist: bool) -> Result<KeyStore, Failure> {
        let dir = &self.data.data;
        let log = self.log.as_deref().map_or(Ok(LogAddress::Sqlite), LogAddress::parse)?;
        let opened = match log.open_server()? {
            Some(engine) => KeyStore::beside(engine, dir),
            None => {
                if must_exist {
                    data_dir::must_exist(dir)?;
                }
                KeyStore::open(dir)
            }
        };
        opened.map_err(|error| key_failure(&error))
    }
}

impl fmt::Display for KeyStoreArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.log {
            // It may hold a password.
            Some(_) => f.write_str("the log"),
            None => write!(f, "{}", self.data.data.display()),
        }
    }
}

pub(crate) fn key_failure(error: &KeyStoreError) -> Failure {
    let failure = Failure::new(quipu_field::with_causes(error));
    match error {
        KeyStoreError::Read { .. } => failure
            .advise("check who may read the file; if it is damaged, restore it from a backup"),
        KeyStoreError::Write { .. } => {
            failure.advise("check that this user may write there and that the disk has room")
        }
        KeyStoreError::ReadShared(_) | KeyStoreError::WriteShared(_) => failure
            .advise("check that the server of the log runs and that this user may write to it"),
        KeyStoreError::Thread(_) => {
            failure.advise("the machine lets this user start no more threads: raise its limit")
        }
        KeyStoreError::Agent { .. } => failure.advise("name an agent's id, or '*' for any"),
        KeyStoreError::Role { .. } => failure.advise("name a role as REGISTER has it"),
        KeyStoreError::Authority { .. } => failure,
    }
}
