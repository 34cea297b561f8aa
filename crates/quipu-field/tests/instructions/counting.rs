//! Counts the instructions of a path: this program is run again under callgrind, with the path taken so many times and
//! then twice as many. The difference is the path; loading, preparing and leaving are in both.

use std::{path::Path, process::Command, thread};

use crate::hot_paths::HotPath;

/// The test that takes a path, by the name that its program knows it by.
const TAKES: &str = "hot_paths::every_path_gives_the_answers_that_it_is_there_for";
/// Says which path and how often: `name times`.
const ASKED: &str = "QUIPU_HOT_PATH";

/// Which path this process is to take and how often, where it was started to be counted.
pub(crate) fn asked_for() -> Option<(String, usize)> {
    #[expect(clippy::disallowed_methods, reason = "the test harness passes no arguments on")]
    let asked = std::env::var(ASKED).ok()?;
    let (name, times) = asked.split_once(' ').expect("a name and a number");
    Some((name.to_owned(), times.parse().expect("a number")))
}

/// How many instructions each part of a path takes. Both runs at once: they do not change each other's counts.
pub(crate) fn instructions(path: &HotPath) -> u64 {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // The profile of the longer run stays beside the build, for `callgrind_annotate`.
    let profile = tmp.join(format!("{}.callgrind", path.name));
    let (once, twice) = thread::scope(|scope| {
        let once = scope.spawn(|| run(path, path.times, Path::new("/dev/null")));
        let twice = run(path, 2 * path.times, &profile);
        (once.join().expect("counted"), twice)
    });
    twice.checked_sub(once).expect("more takes more") / (path.times * path.parts) as u64
}

/// All instructions of one run.
fn run(path: &HotPath, times: usize, profile: &Path) -> u64 {
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", TAKES, "--test-threads=1"])
        .env(ASKED, format!("{} {times}", path.name))
        .output()
        .expect("valgrind is installed: apt-get install valgrind");
    let out = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && out.contains("1 passed"), "{}: {out}\n{said}", path.name);
    collected(&said).unwrap_or_else(|| panic!("{}: no count in\n{said}", path.name))
}

/// The total, from what callgrind says at its end.
fn collected(said: &str) -> Option<u64> {
    let (_, total) = said.lines().find_map(|line| line.split_once("Collected :"))?;
    total.trim().parse().ok()
}

#[test]
fn the_total_is_read_from_what_callgrind_says() {
    let said =
        "==7== Events    : Ir\n==7== Collected : 1234567\n==7== \n==7== I   refs:      1,234,567\n";
    assert_eq!(collected(said), Some(1_234_567));
    assert_eq!(collected("==7== it crashed"), None);
}
