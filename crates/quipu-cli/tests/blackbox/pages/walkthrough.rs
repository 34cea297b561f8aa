//! `docs/replay.md` as a reader would follow it: its Python is a file, its shell blocks are one shell, and each
//! prints what stands behind it.

use std::{fs, path::Path, process::Command};

use tempfile::TempDir;

use super::likeness::Meanings;
use crate::support::Settings;

const ADDRESS: &str = "http://127.0.0.1:7070";
const END: &str = "--- end of block ---";

/// The fenced blocks of a page, with the word behind the fence.
fn blocks(page: &str) -> Vec<(String, String)> {
    let (mut blocks, mut open): (Vec<(String, String)>, bool) = (Vec::new(), false);
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) if !open => {
                blocks.push((kind.to_owned(), String::new()));
                open = true;
            }
            Some(_) => open = false,
            None if open => {
                let (_, text) = blocks.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

#[test]
fn the_worked_example_of_replay_goes_as_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/replay.md");
    let page = fs::read_to_string(page).unwrap();
    let example = page.split("\n## ").find(|part| part.starts_with("A worked example")).unwrap();
    let folder = TempDir::new().unwrap();
    let server = Settings::dev(&folder.path().join("data")).start();
    let mut script = "set -eu\n".to_owned();
    let mut shown = Vec::new();
    for (kind, text) in blocks(example) {
        match kind.as_str() {
            "python" => {
                let name = text.lines().next().unwrap().trim_start_matches("# ");
                fs::write(folder.path().join(name), &text).unwrap();
            }
            "sh" => {
                let here = format!("http://{}", server.address);
                script.push_str(&text.replace(ADDRESS, &here));
                script.push_str(&format!("echo '{END}'\n"));
            }
            _ => shown.push(text),
        }
    }
    let run = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{stdout}\n{stderr}");
    let printed: Vec<&str> = stdout.split(&format!("{END}\n")).collect();
    let mut empty = printed.iter().filter(|text| text.is_empty());
    assert_eq!(empty.next_back(), Some(&""));
    let mut meanings = Meanings::default();
    for (number, text) in shown.iter().enumerate() {
        let real = printed.get(number).copied().unwrap_or_default();
        let (shown, real) = (text.trim_end(), real.trim_end());
        if let Err(difference) = meanings.compare_texts(shown, real, "a block") {
            panic!("{difference}\n{stderr}");
        }
    }
}
