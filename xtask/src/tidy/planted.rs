//! Faults planted into this repository as it is, judged by its own tables: the rules that are there to find them do.

use std::path::Path;

use super::built_from::BuiltFrom;
use super::finding::texts;
use super::metadata::Dependency;
use super::product_code::ProductCode;
use super::rooms::Rooms;
use super::rules::{Repository, findings, load};

const CORE: &str = "quipu-core";

fn repository() -> Repository {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// What a rule says of each of these files, once they are there.
fn planted(mut repository: Repository, rule: &str, files: &[(String, String)]) -> Vec<Vec<String>> {
    for (path, text) in files {
        assert!(!repository.tree.contains(path), "{path} is there already");
        repository.tree.insert(path.clone(), text.clone().into_bytes());
    }
    repository.code = ProductCode::of(&repository.tree);
    let found = texts(&findings(rule, &repository));
    let of = |path: &String| found.iter().filter(|it| it.starts_with(path)).cloned().collect();
    files.iter().map(|(path, _)| of(path)).collect()
}

#[test]
fn the_core_may_name_nothing_that_runs() {
    let faults = [
        "use std::thread;",
        "use std::{fmt, thread};",
        "use std::*;",
        "use std as s;",
        "fn f() { ::std::thread::spawn(g); }",
        "fn f() -> u64 { std::time::SystemTime::now() }",
        "use std::time::{Duration, Instant};",
        "fn f() { std::fs::read(p) }",
        "fn f() { std::io::stdin() }",
        "fn f() { std::env::var(n) }",
        "fn f() { std::net::TcpStream::connect(a) }",
        "fn f() { std::process::exit(1) }",
        "fn f() -> u64 { rand::random() }",
        "fn f() { getrandom::fill(b) }",
        "struct S { s: std::sync::Mutex<u8> }",
        "struct S { s: std::sync::RwLock<u8> }",
        "static S: OnceLock<u8> = OnceLock::new();",
        "thread_local! { static S: u8 = 1; }",
        "use std::sync::mpsc;",
        "async fn f() {}",
        "fn f() { tokio::spawn(g) }",
        "fn f(e: &dyn quipu_log::Engine) {}",
        "fn f(e: &quipu_log::MemoryEngine) {}",
    ];
    let files: Vec<_> = faults
        .iter()
        .enumerate()
        .map(|(number, fault)| {
            let path = format!("crates/{CORE}/src/rules/planted_{number}.rs");
            (path, format!("//! Planted.\n{fault}\n"))
        })
        .collect();
    let found = planted(repository(), "pure-core", &files);
    for (fault, found) in faults.iter().zip(found) {
        assert!(!found.is_empty(), "{fault}");
    }
}

#[test]
fn the_core_may_need_no_runtime_neither_directly_nor_behind_a_dependency() {
    let mut repository = repository();
    assert_eq!(findings("pure-core", &repository), []);
    for (name, kind) in [("tokio", None), ("rand", None), ("cc", Some("build"))] {
        let package = repository.metadata.packages.iter_mut().find(|it| it.name == CORE).unwrap();
        let dependency = Dependency { name: name.to_owned(), kind: kind.map(str::to_owned) };
        package.dependencies.push(dependency);
        let found = texts(&findings("pure-core", &repository)).join("\n");
        assert!(found.contains(&format!("{CORE} is pure and may not need {name}")), "{found}");
    }
    for name in ["tokio", "rusqlite", "hyper", "axum"] {
        repository.built_from = BuiltFrom::listed(CORE, &format!("{CORE} v0.1.0\n{name} v1.0.0\n"));
        let found = texts(&findings("pure-core", &repository)).join("\n");
        assert!(found.contains(&format!("may not be built from {name}")), "{found}");
    }
}

#[test]
fn rooms_that_need_each_other_are_found_in_each_crate_that_has_rooms() {
    let mut repository = repository();
    assert_eq!(findings("room-cycles", &repository), []);
    for name in [CORE, "quipu-field", "quipu-harness", "quipu-server", "quipu-cli"] {
        let folder = format!("crates/{name}/src");
        let rooms = Rooms::of(&repository.code, name);
        let mut edges =
            rooms.edges.iter().flat_map(|(from, to)| to.keys().map(move |to| (from, to)));
        let is_folder = |room: &str| repository.tree.contains_folder(&format!("{folder}/{room}"));
        let (from, to) = edges.find(|(_, to)| is_folder(to)).unwrap();
        let (path, back) =
            (format!("{folder}/{to}/planted.rs"), format!("use crate::{from}::x;\n"));
        repository.tree.insert(path, format!("//! Planted.\n{back}").into_bytes());
        repository.code = ProductCode::of(&repository.tree);
        let found = texts(&findings("room-cycles", &repository)).join("\n");
        assert!(found.contains(&format!("{folder}:1: ")), "{name}: {to} needs {from}: {found}");
    }
}

#[test]
fn each_word_of_our_own_dialect_is_found_as_a_name() {
    let repository = repository();
    let words: Vec<String> = repository.tables.tidy.plain_words.instead.keys().cloned().collect();
    assert!(words.iter().any(|word| word == "told"), "{words:?}");
    let file = |(number, word): (usize, &String)| {
        let is_type = word.starts_with(char::is_uppercase);
        let item = if is_type { format!("struct {word};") } else { format!("fn {word}() {{}}") };
        let path = format!("crates/quipu-field/src/base/planted_{number}.rs");
        (path, format!("//! Planted.\n{item}\n"))
    };
    let files: Vec<_> = words.iter().enumerate().map(file).collect();
    for (word, found) in words.iter().zip(planted(repository, "plain-words", &files)) {
        assert_eq!(found.len(), 1, "{word}: {found:?}");
    }
}

#[test]
fn a_decision_by_the_text_of_an_error_is_found() {
    let text = "//! Planted.\nfn f(e: E) -> bool { e.message == \"gone\" }\n";
    let file = ("crates/quipu-harness/src/work/planted.rs".to_owned(), text.to_owned());
    assert_eq!(planted(repository(), "decided-by-text", &[file])[0].len(), 1);
}
