//! `quipu key`: the keys of a data directory, also while a server runs on it. Secrets are shown once.

use std::path::Path;

use clap::{Args, Subcommand};
use quipu_log::FieldName;
use quipu_server::keys::{KeyAgent, KeyInfo, KeyStore, KeyStoreError, NewKey};
use quipu_wire::timestamp;

use crate::{
    data_dir::{self, DataArgs},
    failure::Failure,
    output,
};

const ABOUT: &str = "\
Make, list and revoke the keys that callers prove themselves with.

A key speaks for one agent or for any, has an authority from 0 to 10, and may be bound to one field.
Only its hash is stored. A running server notices a new or revoked key within a second.

Example:
  quipu key create --data ./quipu-data --agent ada --authority 4
  quipu key list --data ./quipu-data
  quipu key revoke --data ./quipu-data k7d2m9xq";

const CREATE: &str = "\
Make a key and print it, alone, on the last line. It cannot be shown again.

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
Make a key useless for ever. A running server refuses it within a second.

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
    List(DataArgs),
    /// Make a key useless for ever
    #[command(long_about = REVOKE)]
    Revoke(RevokeArgs),
}

/// The arguments of `quipu key create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    data: DataArgs,
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
}

/// The arguments of `quipu key revoke`.
#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The key's id, as `quipu key list` shows it
    #[arg(value_name = "ID")]
    id: String,
}

/// Makes, lists or revokes keys.
pub(crate) fn key(action: KeyAction) -> Result<(), Failure> {
    match action {
        KeyAction::Create(args) => create(args),
        KeyAction::List(args) => list(&args.data),
        KeyAction::Revoke(args) => revoke(&args.data.data, &args.id),
    }
}

fn create(args: CreateArgs) -> Result<(), Failure> {
    let dir = &args.data.data;
    let store = open(dir)?;
    let (agent, label) = (KeyAgent::from(args.agent), args.label);
    let new = NewKey { agent, authority: args.authority, field: args.field, label };
    let issued = store.create(new).map_err(|error| key_failure(&error))?;
    let (whom, what) = describe(&issued.info);
    output::print(&format!(
        "Key {} speaks for {whom}, with authority {}, in {what}.\n\
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

fn list(dir: &Path) -> Result<(), Failure> {
    data_dir::must_exist(dir)?;
    let keys = open(dir)?.list().map_err(|error| key_failure(&error))?;
    if keys.is_empty() {
        return output::print(&format!("There are no keys in {}.\n", dir.display()));
    }
    let header = ["ID", "AGENT", "AUTHORITY", "FIELD", "CREATED", "STATE", "LABEL"];
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
        key.field.as_ref().map_or_else(|| "*".to_owned(), ToString::to_string),
        timestamp::rfc3339(key.created_at_ms),
        state,
        output::harmless(key.label.as_deref().unwrap_or_default()).replace('\n', " "),
    ]
}

fn revoke(dir: &Path, id: &str) -> Result<(), Failure> {
    data_dir::must_exist(dir)?;
    if open(dir)?.revoke(id).map_err(|error| key_failure(&error))? {
        return output::print(&format!(
            "Key {id} is revoked. A running server refuses it within a second.\n"
        ));
    }
    Err(Failure::new(format!("there is no valid key {id:?} in {}", dir.display()))
        .advise(format!("`quipu key list --data {}` shows the ids", dir.display())))
}

fn open(dir: &Path) -> Result<KeyStore, Failure> {
    KeyStore::open(dir).map_err(|error| key_failure(&error))
}

/// Why keys cannot be read or made.
pub(crate) fn key_failure(error: &KeyStoreError) -> Failure {
    let failure = Failure::new(quipu_field::with_causes(error));
    match error {
        KeyStoreError::Read { .. } => failure
            .advise("check who may read the file; if it is damaged, restore it from a backup"),
        KeyStoreError::Write { .. } => {
            failure.advise("check that this user may write there and that the disk has room")
        }
        KeyStoreError::Agent { .. } => failure.advise("name an agent's id, or '*' for any"),
        KeyStoreError::Authority { .. } => failure,
    }
}
