//! The contract of a storage, and a directory that keeps it.

use quipu_field::SnapshotStore;
use quipu_objects::DirectoryStore;

/// What every storage does.
pub(crate) fn keeps_the_contract(store: &dyn SnapshotStore) {
    assert!(store.list("nowhere").unwrap().is_empty());
    assert!(store.get("nowhere/a.snap").is_err());
    store.delete("nowhere/a.snap").unwrap();
    let large: Vec<u8> = (0..3_000_000u32).map(|at| (at % 251) as u8).collect();
    store.put("f/b.snap", large.clone()).unwrap();
    store.put("f/a.snap", b"first".to_vec()).unwrap();
    store.put("f/a.snap", b"second".to_vec()).unwrap();
    store.put("fg/c.snap", b"of another field".to_vec()).unwrap();
    let mut names = store.list("f").unwrap();
    names.sort();
    assert_eq!(names, ["a.snap", "b.snap"]);
    assert_eq!(store.get("f/b.snap").unwrap(), large);
    assert_eq!(store.get("f/a.snap").unwrap(), b"second");
    store.delete("f/a.snap").unwrap();
    store.delete("f/a.snap").unwrap();
    assert_eq!(store.list("f").unwrap(), ["b.snap"]);
    store.delete("f/b.snap").unwrap();
    store.delete("fg/c.snap").unwrap();
}

#[test]
fn a_directory_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    keeps_the_contract(&DirectoryStore::new(folder.path().join("made on first use")));
}

#[test]
fn what_an_interrupted_node_left_goes_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::new(folder.path().to_owned());
    store.put("f/a.snap", b"1".to_vec()).unwrap();
    std::fs::write(folder.path().join("f/a.part"), b"1").unwrap();
    store.delete("f/a.snap").unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("f")).unwrap().count(), 0);
}
