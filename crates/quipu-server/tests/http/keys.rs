//! The store of keys on its own: what is kept, what is not, and how two of them share a file.

use std::{os::unix::fs::PermissionsExt as _, sync::Barrier};

use quipu_log::FieldName;
use quipu_server::{
    KeyStore, KeyStoreError,
    secrets::keys::{KeyAgent, NewKey},
};

fn key(agent: &str, authority: u8) -> NewKey {
    NewKey {
        agent: agent.to_owned().into(),
        authority,
        field: None,
        label: None,
        roles: Vec::new(),
    }
}

#[test]
fn a_store_is_empty_until_a_key_was_made_and_not_when_all_are_revoked() {
    let directory = tempfile::tempdir().unwrap();
    let store = KeyStore::open(&directory.path().join("not/there/yet")).unwrap();
    assert!(store.is_empty());
    let issued = store.create(key("*", 10)).unwrap();
    assert!(!store.is_empty());
    assert!(store.revoke(&issued.info.id).unwrap());
    assert!(!store.revoke(&issued.info.id).unwrap());
    assert!(!store.revoke("nothing").unwrap());
    assert!(!store.is_empty());
    assert_eq!(store.authenticate(&issued.secret), None);
}

#[test]
fn a_key_proves_what_it_was_made_with() {
    let directory = tempfile::tempdir().unwrap();
    let store = KeyStore::open(directory.path()).unwrap();
    let field = Some(FieldName::try_from("team").unwrap());
    let new = NewKey { field: field.clone(), label: Some("ci".to_owned()), ..key("ada", 6) };
    let issued = store.create(new).unwrap();
    assert_eq!(issued.secret.len(), "quipu_".len() + 8 + 1 + 43);
    assert!(issued.secret.starts_with(&format!("quipu_{}_", issued.info.id)));
    let reopened = KeyStore::open(directory.path()).unwrap();
    let credential = reopened.authenticate(&issued.secret).unwrap();
    assert_eq!(credential.agent, KeyAgent::Named("ada".to_owned()));
    assert_eq!((credential.authority, credential.field), (6, field));
    assert_eq!(reopened.list().unwrap(), [issued.info]);
}

#[test]
fn the_secret_is_stored_nowhere_and_the_file_is_the_owners_alone() {
    let directory = tempfile::tempdir().unwrap();
    let store = KeyStore::open(directory.path()).unwrap();
    let issued = store.create(key("*", 10)).unwrap();
    let path = directory.path().join("keys.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let random = issued.secret.rsplit_once(issued.info.id.as_str()).unwrap().1;
    assert!(text.contains(&issued.info.id) && !text.contains(&random[1..]));
    assert!(!format!("{issued:?}").contains(&random[1..]));
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn keys_made_by_many_at_one_time_are_all_kept() {
    let directory = tempfile::tempdir().unwrap();
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = KeyStore::open(directory.path()).unwrap();
                start.wait();
                for _ in 0..4 {
                    store.create(key("*", 2)).unwrap();
                }
            });
        }
    });
    assert_eq!(KeyStore::open(directory.path()).unwrap().list().unwrap().len(), 32);
}

#[test]
fn refuses_a_key_for_nobody_and_above_all_authority() {
    let directory = tempfile::tempdir().unwrap();
    let store = KeyStore::open(directory.path()).unwrap();
    for name in ["", "  ", "system", "a\nb"] {
        let error = store.create(key(name, 4)).unwrap_err();
        assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
    }
    let error = store.create(key("a", 11)).unwrap_err();
    assert_eq!(error.to_string(), "authority 11 is not from 0 to 10");
}

#[test]
fn a_file_that_is_damaged_or_newer_is_refused_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.json");
    for text in ["{", "[]", "{\"format\": 2, \"keys\": []}"] {
        std::fs::write(&path, text).unwrap();
        let error = KeyStore::open(directory.path()).unwrap_err();
        let KeyStoreError::Read { path: named, .. } = &error else { panic!("{error}") };
        assert_eq!(named, &path);
    }
}

#[test]
fn keys_stay_good_while_their_file_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = KeyStore::open(directory.path()).unwrap();
    let issued = store.create(key("*", 10)).unwrap();
    std::fs::write(directory.path().join("keys.json"), "half a fi").unwrap();
    // An unknown key makes the store look at the file at once.
    let unknown = format!("quipu_00000000_{}", "x".repeat(43));
    assert_eq!(store.authenticate(&unknown), None);
    assert!(store.authenticate(&issued.secret).is_some());
}
