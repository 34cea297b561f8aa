//! The console in a real browser: Chromium of the system, driven by `playwright-core`, against servers that the
//! scripts start and stop themselves. The scripts are in `quipu-console/tests`; their packages are installed beside
//! the build, as the lock file says. Screenshots are left in `target/console`.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

fn console() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../quipu-console")
}

/// The packages of the tests, installed once for each lock file.
fn packages() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let home = temporary.join("console-packages");
    // Every test is a process of its own, and all of them may come here at once.
    let turn = File::create(temporary.join("console-packages.lock")).unwrap();
    turn.lock().unwrap();
    let tests = console().join("tests");
    let wanted = fs::read(tests.join("package-lock.json")).unwrap();
    let done = home.join("installed");
    if fs::read(&done).ok().as_ref() != Some(&wanted) {
        fs::create_dir_all(&home).unwrap();
        for file in ["package.json", "package-lock.json"] {
            fs::copy(tests.join(file), home.join(file)).unwrap();
        }
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&home));
        fs::write(done, wanted).unwrap();
    }
    home
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}\n{errors}");
    said
}

/// Runs a script of tests and shows what it prints.
fn script(name: &str) {
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../console");
    let said = run(Command::new("node")
        .args(["--test", "--test-reporter=spec"])
        .arg(console().join("tests").join(format!("{name}.test.mjs")))
        .env("CONSOLE_PACKAGES", packages())
        .env("CONSOLE_SHOTS", shots)
        .env("QUIPU_BIN", env!("CARGO_BIN_EXE_quipu")));
    println!("{said}");
}

#[test]
fn every_script_for_the_browser_has_its_types_right() {
    let tsc = packages().join("node_modules/typescript/bin/tsc");
    run(Command::new("node").arg(tsc).arg("-p").arg(console().join("tsconfig.json")));
}

#[test]
fn every_script_of_tests_is_run_here() {
    let listed = fs::read_dir(console().join("tests")).unwrap();
    let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let own = include_str!("console.rs");
    for name in names.filter_map(|name| name.strip_suffix(".test.mjs").map(str::to_owned)) {
        assert!(own.contains(&format!("script(\"{name}\")")), "{name} is not run");
    }
}

#[test]
fn overview_in_a_browser() {
    script("overview");
}

#[test]
fn memory_in_a_browser() {
    script("memory");
}

#[test]
fn log_and_operations_in_a_browser() {
    script("log");
}

#[test]
fn faults_in_a_browser() {
    script("faults");
}

#[test]
fn speed_in_a_browser() {
    script("speed");
}

#[test]
fn attune_conflicts_replay_and_tasks_in_a_browser() {
    script("work");
}

#[test]
fn a_newcomer_in_a_browser() {
    script("newcomer");
}

#[test]
fn receipts_are_checked_by_the_scripts_of_the_console() {
    script("receipts");
}

#[test]
fn texts_are_compared_by_the_scripts_of_the_console() {
    script("texts");
}
