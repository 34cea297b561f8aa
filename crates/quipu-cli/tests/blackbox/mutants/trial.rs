//! Runs the suite against variants of a real server and compares what caught them with the page.

use std::{collections::BTreeSet, net::SocketAddr, path::Path, sync::Mutex, time::Duration};

use quipu_conformance::{Binding, BoundKey, Keys, Outcome, Target, run};
use tempfile::TempDir;

use super::{
    proxy::{self, Upstream},
    table,
    tamper::Tamper,
};
use crate::{
    keys::operator_key,
    support::{Server, Settings, quipu},
};

/// A variant waits often, so that more of them than cores are tried at one time.
const AT_ONE_TIME: usize = 4;
/// A push that a variant swallowed never comes; ten seconds for each would be too long.
const PUSH_WAIT: Duration = Duration::from_secs(2);

/// A server that breaks one rule.
pub(crate) struct Variant {
    name: String,
    breaks: String,
    /// Parts of the names of the cases that are tried on it.
    cases: Vec<String>,
    tamper: Tamper,
}

pub(crate) fn variant(name: &str, breaks: &str, cases: &[&str], tamper: Tamper) -> Variant {
    let cases = cases.iter().map(|&part| part.to_owned()).collect();
    Variant { name: name.to_owned(), breaks: breaks.to_owned(), cases, tamper }
}

/// The real server; it ends when this is dropped.
struct Original {
    place: Place,
    _server: Server,
    _data: TempDir,
}

/// Where the real server is, and the keys for it.
struct Place {
    address: SocketAddr,
    keys: Keys,
}

impl Original {
    fn start() -> Self {
        let data = TempDir::new().unwrap();
        let mut server = Settings::new(data.path()).argument("--log").argument("memory:").start();
        let operator = operator_key(&server.printed()).unwrap();
        let bound = BoundKey { agent: "bound".to_owned(), authority: 4, key: bound(data.path()) };
        let keys = Keys { operator, bound: Some(bound) };
        Self { place: Place { address: server.address, keys }, _server: server, _data: data }
    }
}

impl Place {
    /// The cases that fail on a variant, by their short names.
    fn failures(&self, field: &str, cases: &[String], tamper: Tamper) -> BTreeSet<String> {
        let upstream = Upstream { address: self.address, field: field.to_owned() };
        let url = format!("http://{}", proxy::start(upstream, tamper));
        let target = Target::new(&url, Some(self.keys.clone()), 3, Binding::Http).unwrap();
        let report = run(&target.with_push_wait(PUSH_WAIT), cases).unwrap();
        let failed = report.verdicts.iter().filter(|v| matches!(v.outcome, Outcome::Failed { .. }));
        failed.map(|verdict| table::short(verdict.name)).collect()
    }
}

fn bound(data: &Path) -> String {
    let data = data.to_str().unwrap();
    let made = quipu(["key", "create", "--data", data, "--agent", "bound", "--authority", "4"]);
    made.succeeded().stdout.lines().last().unwrap().to_owned()
}

/// Tries every variant and compares what caught it with the page. What was found is written to a
/// file, as rows that can be put into the page.
pub(crate) fn all_are_caught(area: &str, variants: Vec<Variant>) {
    let original = Original::start();
    let place = &original.place;
    let found: Mutex<Vec<(String, String)>> = Mutex::default();
    let problems: Mutex<Vec<String>> = Mutex::default();
    let queue = Mutex::new(variants.into_iter());
    let expected = table::caught_by();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONE_TIME {
            scope.spawn(|| {
                loop {
                    let Some(next) = queue.lock().unwrap().next() else { return };
                    let failed = place.failures(&next.name, &next.cases, next.tamper);
                    let row = table::row(&next.name, &next.breaks, &failed);
                    found.lock().unwrap().push((next.name.clone(), row));
                    let listed = expected.get(next.name.as_str()).cloned().unwrap_or_default();
                    let missed: Vec<&&str> =
                        listed.iter().filter(|c| !failed.contains(**c)).collect();
                    if listed.is_empty() || !missed.is_empty() {
                        let name = &next.name;
                        let text = format!("{name}: failed {failed:?}, not as listed: {missed:?}");
                        problems.lock().unwrap().push(text);
                    }
                }
            });
        }
    });
    write_rows(area, found.into_inner().unwrap());
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "the page and the suite differ:\n{}", problems.join("\n"));
}

fn write_rows(area: &str, mut found: Vec<(String, String)>) {
    found.sort();
    let rows: String = found.into_iter().map(|(_, row)| row).collect();
    println!("{rows}");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutants-{area}.md"));
    std::fs::write(file, rows).unwrap();
}

#[test]
fn the_unbroken_server_passes_through_the_same_proxy() {
    let failed = Original::start().place.failures("unbroken", &[], Tamper::default());
    assert_eq!(failed, BTreeSet::new());
}
