//! The conformance package against `/mcp`, once for each generation. What does not hold is listed with its reason:
//! a failure that is not listed breaks the test, and so does a listed one that passes. The report is
//! committed (`docs/conformance/mcp.md` and `mcp.json`) and must be what this run gives.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::installed::{Node, scripts};
use crate::support::Settings;

/// One run of the package.
struct Suite {
    /// The generation that it asks for.
    generation: &'static str,
    /// Where its program is, and what it calls itself.
    package: (&'static str, &'static str),
    /// How it is told the generation.
    arguments: &'static [&'static str],
}

const SUITES: [Suite; 2] = [
    Suite {
        generation: "2025-11-25",
        package: ("@modelcontextprotocol/conformance", "0.1.16"),
        arguments: &["--spec-version", "2025-11-25"],
    },
    Suite {
        generation: "2026-07-28",
        package: ("conformance-next", "0.2.0-alpha.12"),
        arguments: &["--requirements", "2026-07-28"],
    },
];

/// Statuses of checks by scenario.
type Scenarios = BTreeMap<String, Vec<(String, String)>>;

#[test]
fn holds_but_for_what_is_listed_with_its_reason() {
    let reports = SUITES.each_ref().map(|suite| {
        let listed = listed(suite);
        let scenarios = run(suite);
        assert!(scenarios.len() > 20, "{}: {scenarios:?}", suite.generation);
        (suite, scenarios, listed)
    });
    let json = json!(reports.iter().map(as_json).collect::<Vec<_>>());
    compare("mcp.json", &format!("{}\n", serde_json::to_string_pretty(&json).unwrap()));
    compare("mcp.md", &as_page(&reports));
}

/// The list for the package, in the package's own form.
fn list_of(suite: &Suite) -> PathBuf {
    scripts().join(format!("conformance-{}.yaml", suite.generation))
}

/// What is expected to fail, and why: `- scenario # reason`.
fn listed(suite: &Suite) -> BTreeMap<String, String> {
    let text = fs::read_to_string(list_of(suite)).unwrap();
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
    entries
        .map(|entry| {
            let (name, reason) = entry.split_once(" # ").unwrap_or((entry, ""));
            assert!(!reason.trim().is_empty(), "{name} is listed without a reason");
            (name.trim().trim_matches('"').to_owned(), reason.trim().to_owned())
        })
        .collect()
}

/// Runs it against a fresh server. Its own exit code says whether the list is exact.
fn run(suite: &Suite) -> Scenarios {
    let directory = TempDir::new().unwrap();
    let server = Settings::dev(&directory.path().join("data")).start();
    let results = directory.path().join("results");
    let node = Node::installed();
    let mut package: Command = node.command(&node.file(suite.package.0).join("dist/index.js"));
    package.args(["server", "--url", &format!("http://{}/mcp", server.address)]);
    package.args(suite.arguments).arg("--expected-failures").arg(list_of(suite));
    package.arg("--output-dir").arg(&results).current_dir(directory.path());
    let output = package.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}:\n{said}\n{errors}", suite.generation);
    server.stop();
    read(&results)
}

/// The length of `-2026-03-01T10-30-00-000Z`.
const TIME: usize = 25;

/// The checks that the package left: a directory `server-SCENARIO-TIME` for each scenario.
fn read(results: &Path) -> Scenarios {
    let mut scenarios = Scenarios::new();
    for entry in fs::read_dir(results).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let scenario = name.strip_prefix("server-").and_then(|name| name.get(..name.len() - TIME));
        let Some(scenario) = scenario else { continue };
        let checks = fs::read_to_string(entry.path().join("checks.json")).unwrap();
        let checks: Vec<Value> = serde_json::from_str(&checks).unwrap();
        let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
        let mut checks: Vec<_> =
            checks.iter().map(|check| (text(check, "id"), text(check, "status"))).collect();
        checks.sort();
        scenarios.insert(scenario.to_owned(), checks);
    }
    scenarios
}

type Report<'a> = (&'a Suite, Scenarios, BTreeMap<String, String>);

fn holds(checks: &[(String, String)]) -> bool {
    !checks.iter().any(|(_, status)| status == "FAILURE" || status == "WARNING")
}

/// Why a scenario does not hold, by the list: it names the scenario, or single checks of it.
fn reason<'a>(listed: &'a BTreeMap<String, String>, scenario: &str) -> &'a str {
    let named = |name: &str| name.split(':').next() == Some(scenario);
    listed.iter().find(|(name, _)| named(name)).map_or("", |(_, reason)| reason.as_str())
}

fn as_json((suite, scenarios, listed): &Report<'_>) -> Value {
    let scenario = |(name, checks): (&String, &Vec<(String, String)>)| {
        let checks: Vec<Value> =
            checks.iter().map(|(id, status)| json!({"id": id, "status": status})).collect();
        json!({"scenario": name, "expected_failure": reason(listed, name), "checks": checks})
    };
    json!({"generation": suite.generation, "package": "@modelcontextprotocol/conformance",
           "version": suite.package.1, "scenarios": scenarios.iter().map(scenario).collect::<Vec<_>>()})
}

fn as_page(reports: &[Report<'_>]) -> String {
    let mut page = String::from(HEAD);
    for (suite, scenarios, listed) in reports {
        let held = scenarios.values().filter(|checks| holds(checks)).count();
        page.push_str(&format!(
            "\n## {}\n\n`@modelcontextprotocol/conformance` {}, `server {}`: {held} of {} scenarios hold.\n\n",
            suite.generation,
            suite.package.1,
            suite.arguments.join(" "),
            scenarios.len()
        ));
        page.push_str("| scenario | checks | outcome |\n|---|---|---|\n");
        for (name, checks) in scenarios {
            let good = checks.iter().filter(|(_, status)| status == "SUCCESS").count();
            let told = checks.iter().filter(|(_, status)| status != "INFO").count();
            let outcome = match (holds(checks), reason(listed, name)) {
                (true, _) => "holds",
                // The package was content, so it does not count this one.
                (false, "") => UNCOUNTED,
                (false, reason) => reason,
            };
            page.push_str(&format!("| `{name}` | {good} of {told} | {outcome} |\n"));
        }
    }
    page
}

const UNCOUNTED: &str = "not counted by the package: an extension, or not final yet";

const HEAD: &str = "\
# Conformance to MCP

What the conformance package of the Model Context Protocol finds at `/mcp`, in both generations of the protocol. A test
runs it and compares this page, [its data](mcp.json), and the lists of what is expected to fail
(`crates/quipu-cli/tests/mcp/conformance-*.yaml`) with what it finds:

```sh
cargo nextest run -p quipu-cli mcp_clients::conformance
```

The package was made for the test servers of SDKs. Many of its scenarios call tools, prompts and resources by fixed
names that only such a server has; they are listed below with that reason. A failure that is not listed breaks the build, and so
does a listed one that passes.
";

/// Compares with what is committed; what was found lies beside the build.
#[track_caller]
fn compare(name: &str, found: &str) {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance").join(name);
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&beside, found).unwrap();
    let expected = fs::read_to_string(&committed).unwrap_or_default();
    assert!(
        expected == found,
        "docs/conformance/{name} is not what was found. Read the difference, then: cp {} {}",
        beside.display(),
        committed.display()
    );
}
