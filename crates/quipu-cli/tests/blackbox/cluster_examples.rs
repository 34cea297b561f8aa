//! The files of `examples/cluster`, as far as they can be checked without the tools that read them: they are YAML, and
//! what they tell `quipu` is something that it understands.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::support::quipu;

const PYYAML: &str = "pyyaml==6.0.3";
const READ: &str =
    "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)";

/// An interpreter that reads YAML, installed once beside the build.
fn python() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PYYAML);
    let python = home.join("bin/python");
    let marker = home.join("installed");
    if !marker.exists() {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home));
        let mut pip = Command::new(home.join("bin/pip"));
        run(pip.args(["install", "--quiet", "--disable-pip-version-check", PYYAML]));
        fs::write(marker, "").unwrap();
    }
    python
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Every text in a document.
fn texts(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(object) => {
            found.extend(object.keys().cloned());
            object.values().for_each(|value| texts(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn tells_quipu_what_it_understands(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster").join(file);
    let said = run(Command::new(python()).args(["-c", READ]).arg(path));
    let documents: Value = serde_json::from_str(&said).unwrap();
    let mut all = BTreeSet::new();
    texts(&documents, &mut all);
    let help = quipu(["serve", "--help"]).succeeded().stdout;
    let docs = include_str!("../../../../docs/operations.md");
    let flags: Vec<&String> = all.iter().filter(|text| text.starts_with("--")).collect();
    assert!(flags.len() >= 3, "{flags:?}");
    for flag in flags {
        assert!(help.contains(&format!("{flag} ")), "{file}: {flag} is no option");
    }
    let variables: Vec<&String> = all.iter().filter(|text| text.starts_with("QUIPU_")).collect();
    assert!(variables.len() >= 2, "{variables:?}");
    for variable in variables {
        let known =
            help.contains(&format!("[env: {variable}]")) || docs.contains(&format!("`{variable}`"));
        assert!(known, "{file}: {variable} is no variable");
    }
    documents
}

/// One test, so that the interpreter is installed by one.
#[test]
fn the_examples_of_clusters_tell_quipu_what_it_understands() {
    check_compose_file();
    check_manifest();
}

/// Three nodes with a directory each.
fn check_compose_file() {
    let documents = tells_quipu_what_it_understands("compose.yaml");
    let services = documents[0]["services"].as_object().unwrap();
    let nodes = services.iter().filter(|(name, _)| name.starts_with("node-"));
    let volumes: BTreeSet<String> =
        nodes.map(|(_, node)| node["volumes"][0].as_str().unwrap().to_owned()).collect();
    assert_eq!(volumes.len(), 3, "{volumes:?}");
}

/// It asks the probes that there are, and its services find its pods.
fn check_manifest() {
    let documents = tells_quipu_what_it_understands("kubernetes.yaml");
    let documents = documents.as_array().unwrap();
    let set = documents.iter().find(|document| document["kind"] == "StatefulSet").unwrap();
    let container = &set["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
    assert_eq!(container["livenessProbe"]["httpGet"]["path"], "/healthz");
    let mut services = documents.iter().filter(|document| document["kind"] == "Service");
    assert!(services.all(|service| service["spec"]["selector"]["app"] == "quipu"));
    assert_eq!(set["spec"]["template"]["metadata"]["labels"]["app"], "quipu");
}
