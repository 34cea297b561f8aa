//! Runs the examples of each page.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    blocks::{Example, examples},
    likeness::Meanings,
};
use crate::support::{Client, Settings};

/// How long a stream may take for what the page shows of it.
const STREAM_WAIT: Duration = Duration::from_secs(30);

#[test]
fn the_examples_of_every_page_are_answered_as_shown() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = std::fs::read_dir(docs.join("protocol")).unwrap();
    let pages = pages.map(|entry| entry.unwrap().path()).chain([docs.join("proofs.md")]);
    let mut wrong = Vec::new();
    let mut run = 0;
    for path in pages {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let page = std::fs::read_to_string(&path).unwrap();
        match examples(&page) {
            Ok(examples) if examples.is_empty() => wrong.push(format!("{name}: has no example")),
            Ok(examples) => {
                run += examples.len();
                wrong.extend(failures(&examples).map(|failure| format!("{name}:{failure}")));
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{run} examples were run\n{}", wrong.join("\n"));
}

/// Runs the examples in order on a fresh server, up to the first that fails.
fn failures(examples: &[Example]) -> impl Iterator<Item = String> {
    let data = TempDir::new().unwrap();
    let server = Settings::dev(data.path()).start();
    let mut meanings = Meanings::default();
    let failed = examples.iter().find_map(|example| {
        let result = run(example, server.address, &mut meanings);
        result.err().map(|error| format!("{}: {error}", example.line))
    });
    failed.into_iter()
}

fn run(example: &Example, address: SocketAddr, meanings: &mut Meanings) -> Result<(), String> {
    let request = meanings.fill_in(&example.request);
    let example = Example { request, answer: example.answer.clone(), line: example.line };
    let (method, path, headers, body) = example.parts();
    if path.contains("/events") {
        let shown = example.answer.as_deref().unwrap_or_default();
        return stream(address, path, shown, meanings);
    }
    let mut client = Client::connect(address).map_err(|error| error.to_string())?;
    for (name, value) in headers {
        client = client.with_header(name, value);
    }
    let answer = client.try_request(method, path, body.as_bytes()).map_err(|e| e.to_string())?;
    let Some(shown) = &example.answer else {
        return if answer.status == 200 { Ok(()) } else { Err(answer.text()) };
    };
    if answer.header("content-type").is_none_or(|kind| !kind.starts_with("application/json")) {
        return meanings.compare_texts(shown, &answer.text(), "the answer");
    }
    let shown: Value = serde_json::from_str(shown).map_err(|error| format!("{error}: {shown}"))?;
    meanings.compare(&shown, &answer.json(), "")
}

/// Reads as much of a stream as is shown and compares it line by line.
fn stream(
    address: SocketAddr,
    path: &str,
    shown: &str,
    meanings: &mut Meanings,
) -> Result<(), String> {
    let mut socket = TcpStream::connect(address).map_err(|error| error.to_string())?;
    socket.set_read_timeout(Some(STREAM_WAIT)).map_err(|error| error.to_string())?;
    // HTTP/1.0 has no chunks in between.
    let request = format!("GET {path} HTTP/1.0\r\nhost: localhost\r\n\r\n");
    socket.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut lines = BufReader::new(socket).lines();
    let mut next = || lines.next().transpose().map_err(|error| error.to_string());
    while next()?.is_some_and(|line| !line.is_empty()) {}
    for shown in shown.lines() {
        let real = next()?.ok_or("the stream ended")?;
        match (shown.strip_prefix("data: "), real.strip_prefix("data: ")) {
            (Some(shown), Some(real)) => {
                let parse = |text: &str| serde_json::from_str(text).map_err(|e| e.to_string());
                meanings.compare(&parse(shown)?, &parse(real)?, "data")?;
            }
            _ => meanings.compare_texts(shown, &real, "a line")?,
        }
    }
    Ok(())
}
