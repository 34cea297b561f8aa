//! The README's curl lines, run as a reader would paste them, against a server of our own.

use std::{fs, path::Path, process::Command};

use tempfile::TempDir;

use crate::support::Settings;

const ADDRESS: &str = "http://127.0.0.1:7070";

/// The fenced shell blocks that call curl, in order.
fn curl_blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        let fence = line.trim_start();
        if let Some(block) = &mut current {
            if fence.starts_with("```") {
                blocks.extend(current.take());
            } else {
                block.push_str(line);
                block.push('\n');
            }
        } else if fence.starts_with("```sh") || fence.starts_with("```bash") {
            current = Some(String::new());
        }
    }
    blocks.retain(|block| block.contains("curl"));
    blocks
}

#[test]
fn the_curl_lines_of_the_readme_work_when_pasted_in_order() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let blocks = curl_blocks(&fs::read_to_string(&readme).unwrap());
    assert!(!blocks.is_empty(), "the README shows no curl line");

    let data = TempDir::new().unwrap();
    let mut server = Settings::new(data.path()).start();
    let printed = server.printed();
    let key = printed.split_whitespace().find(|word| word.starts_with("quipu_")).unwrap();
    let here = format!("http://{}", server.address);
    let mut script =
        String::from("set -eu\ncurl() { command curl --fail-with-body -sS \"$@\"; }\n");
    for block in &blocks {
        assert!(block.contains(ADDRESS), "a block that does not say where: {block}");
        // A line that would set the key anew is the reader's, with the key that the server printed.
        let kept = block.lines().filter(|line| !line.trim_start().starts_with("export QUIPU_KEY"));
        for line in kept {
            script.push_str(&line.replace(ADDRESS, &here));
            script.push('\n');
        }
        script.push_str("\necho\n");
    }
    let output = Command::new("sh").arg("-c").arg(&script).env("QUIPU_KEY", key).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{stdout}\n{stderr}");
    assert!(stdout.contains("\"memory_unit_id\""), "nothing was recorded: {stdout}");
    assert!(stdout.contains("\"relevance_score\""), "nothing came back: {stdout}");
}
