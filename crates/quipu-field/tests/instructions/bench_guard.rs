//! Counts all hot paths and holds them against the reviewed figures.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    counting::instructions,
    figures::{self, Figures, Verdict},
    hot_paths::{DOUBLED, HOT_PATHS},
};

/// Where the figures are.
fn reviewed_in() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/instructions.toml")
}

fn reviewed() -> Figures {
    figures::read(&fs::read_to_string(reviewed_in()).unwrap_or_default())
}

#[test]
fn no_hot_path_takes_a_tenth_more_instructions_than_was_reviewed() {
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions.toml");
    let counted: Figures =
        HOT_PATHS.iter().map(|path| (path.name.to_owned(), instructions(path))).collect();
    fs::write(&fresh, figures::write(&counted)).unwrap();
    let reviewed = reviewed();
    let mut fails = false;
    for (name, verdict) in figures::compare(&reviewed, &counted) {
        let (was, is) = (reviewed.get(&name), counted.get(&name));
        println!("{verdict:?}: {name}, reviewed {was:?}, counted {is:?}");
        fails |= matches!(verdict, Verdict::Regressed | Verdict::Unmatched);
    }
    println!("where a figure is to change: cp {} {}", fresh.display(), reviewed_in().display());
    assert!(!fails, "see above; CONTRIBUTING.md says how to find what became dearer");
}

#[test]
fn a_path_that_does_its_work_twice_is_caught() {
    let mut counted = reviewed();
    counted.insert("embed_text".to_owned(), instructions(&DOUBLED));
    assert_eq!(figures::compare(&reviewed(), &counted)["embed_text"], Verdict::Regressed);
}
