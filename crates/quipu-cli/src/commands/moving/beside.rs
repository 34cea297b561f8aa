//! What goes along with a log: keys, the secrets that nodes share, and what was signed last.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use quipu_log::{FieldName, TreeHead};
use quipu_server::{KeyStore, KeyStoreError, Secrets, SecretsError, VaultKey};

use super::open_log::OpenLog;
use crate::{
    commands::{key::key_failure, serve_models::variable},
    ui::failure::Failure,
};

const VAULT_KEY_VARIABLE: &str = "QUIPU_VAULT_KEY";

/// Refuses a target whose nodes could not open what the source's have sealed, before anything is sealed for good.
pub(super) fn check(source: &OpenLog, target: &OpenLog) -> Result<(), Failure> {
    let (Some(ours), Some(theirs)) = (secrets(source)?, secrets(target)?) else { return Ok(()) };
    if ours.seal_alike(&theirs) {
        return Ok(());
    }
    Err(Failure::new(format!("{target} has another vault key than {source}"))
        .advise("what vaults hold would not open there: choose a target that was not used before"))
}

/// Takes keys and secrets along.
pub(super) fn carry(source: &OpenLog, target: &OpenLog) -> Result<(), Failure> {
    let failed = |error: KeyStoreError| key_failure(&error);
    let ours = keys(source).map_err(failed)?;
    keys(target).map_err(failed)?.add_all(&ours).map_err(failed)?;
    if let Some(secrets) = secrets(source)? {
        match target.engine.notes() {
            Some(notes) => secrets.put(notes),
            None => secrets.put_into(&target.directory),
        }
        .map_err(|error| secrets_failure(target, &error))?;
    }
    Ok(())
}

fn keys(place: &OpenLog) -> Result<KeyStore, KeyStoreError> {
    KeyStore::beside(std::sync::Arc::clone(&place.engine), &place.directory)
}

/// The secrets of a log's nodes; none where none were ever drawn.
fn secrets(place: &OpenLog) -> Result<Option<Secrets>, Failure> {
    let given = match variable(VAULT_KEY_VARIABLE) {
        Some(text) => Some(
            text.parse::<VaultKey>()
                .map_err(|error| Failure::new(format!("{VAULT_KEY_VARIABLE} {error}")))?,
        ),
        None => None,
    };
    let read = match place.engine.notes() {
        Some(notes) => Secrets::in_notes(notes, &place.directory, given.as_ref()),
        None => Secrets::in_directory(&place.directory, given.as_ref()),
    };
    read.map_err(|error| secrets_failure(place, &error))
}

fn secrets_failure(place: &OpenLog, error: &SecretsError) -> Failure {
    let failure = Failure::caused(format!("the secrets of {place}"), error);
    match error {
        SecretsError::OtherVaultKey => {
            failure.advise(format!("set {VAULT_KEY_VARIABLE} to the value that its servers have"))
        }
        SecretsError::File(_)
        | SecretsError::Storage(_)
        | SecretsError::Unreadable(_)
        | SecretsError::Sealed(_) => {
            failure.advise("nothing was opened; then run the same command again")
        }
    }
}

/// Takes the memory of what was signed along: a directory signs checkpoints with a key of its own, and must not forget for
/// what. Only where the directory stays the same: another one has another key.
pub(super) fn carry_signed(
    source: &OpenLog,
    target: &OpenLog,
    field: &FieldName,
) -> Result<(), Failure> {
    copy_signed(source, target, field).map_err(|error| {
        Failure::caused(format!("cannot keep what was signed last of field {field}"), &error)
    })
}

fn copy_signed(source: &OpenLog, target: &OpenLog, field: &FieldName) -> io::Result<()> {
    if source.directory != target.directory || source.embedded == target.embedded {
        return Ok(());
    }
    let signed =
        |place: &OpenLog| place.beside().join(field.as_str()).join("proofs").join("signed");
    let (from, to) = (signed(source), signed(target));
    if size(&from)? <= size(&to)? {
        return Ok(());
    }
    let directory = to.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(directory)?;
    let part = to.with_extension("part");
    fs::copy(&from, &part)?;
    File::open(&part)?.sync_all()?;
    fs::rename(&part, &to)?;
    File::open(directory)?.sync_all()
}

/// How many commits the checkpoint that was signed last has.
fn size(path: &Path) -> io::Result<u64> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let head: TreeHead = serde_json::from_slice(&text)?;
    Ok(head.size)
}
