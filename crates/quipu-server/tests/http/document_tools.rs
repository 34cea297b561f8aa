//! The OpenAPI document in the tools that others read it with: `redocly lint` finds no error in it, and
//! `openapi-typescript` makes types of it. Their packages are installed beside the build, as the lock file says.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The packages, installed once for each lock file.
fn packages() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let home = temporary.join("openapi-packages");
    // Every test is a process of its own, and all of them may come here at once.
    let turn = File::create(temporary.join("openapi-packages.lock")).unwrap();
    turn.lock().unwrap();
    let lists = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi");
    let wanted = fs::read(lists.join("package-lock.json")).unwrap();
    let done = home.join("installed");
    if fs::read(&done).ok().as_ref() != Some(&wanted) {
        fs::create_dir_all(&home).unwrap();
        for file in ["package.json", "package-lock.json"] {
            fs::copy(lists.join(file), home.join(file)).unwrap();
        }
        let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(Command::new("npm").args(arguments).current_dir(&home));
        fs::write(done, wanted).unwrap();
    }
    home.join("node_modules/.bin")
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{printed}\n{errors}");
    printed
}

/// The document in a directory of its own.
fn document() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("openapi.json");
    fs::write(&path, quipu_server::openapi().to_pretty_json().unwrap()).unwrap();
    (directory, path)
}

#[test]
fn redocly_finds_no_error() {
    let (directory, document) = document();
    let mut redocly = Command::new(packages().join("redocly"));
    redocly.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    run(redocly
        .arg("lint")
        .arg(document)
        .args(["--format", "stylish"])
        .current_dir(directory.path()));
}

#[test]
fn types_for_typescript_can_be_made_of_it() {
    let (directory, document) = document();
    let types = directory.path().join("types.d.ts");
    let mut tool = Command::new(packages().join("openapi-typescript"));
    run(tool.arg(document).arg("-o").arg(&types));
    let types = fs::read_to_string(types).unwrap();
    assert!(types.contains("RecordPayload: {"), "{types}");
}

/// All references of a document.
fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(map) => {
            let own = map.get("$ref").and_then(Value::as_str);
            own.into_iter().chain(map.values().flat_map(references)).collect()
        }
        Value::Array(list) => list.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[test]
fn whatever_is_referred_to_is_there() {
    let document = serde_json::to_value(quipu_server::openapi()).unwrap();
    let references = references(&document);
    assert!(references.len() > 100, "{}", references.len());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

/// The limit that a property of a schema has.
fn limit_of(document: &Value, schema: &str, property: &str, limit: &str) -> Option<u64> {
    document.pointer(&format!("/components/schemas/{schema}/properties/{property}"))?[limit]
        .as_u64()
}

#[test]
fn the_limits_of_payloads_are_in_their_schemas() {
    use quipu_wire::limits::{AUTHORITY_MAX, CONTENT_BYTES_MAX, ID_BYTES_MAX, RECORD_UNITS_MAX};
    let document = serde_json::to_value(quipu_server::openapi()).unwrap();
    for (schema, property, limit, expected) in [
        ("RecordPayload", "content", "maxLength", CONTENT_BYTES_MAX as u64),
        ("RecordsPayload", "units", "maxItems", RECORD_UNITS_MAX as u64),
        ("RegisterPayload", "id", "maxLength", ID_BYTES_MAX as u64),
        ("RegisterPayload", "authority_level", "maximum", u64::from(AUTHORITY_MAX)),
    ] {
        let found = limit_of(&document, schema, property, limit);
        assert_eq!(found, Some(expected), "{schema}.{property}");
    }
}

#[test]
fn a_task_in_words_and_one_as_an_object_both_have_the_shape_of_the_document() {
    let document = serde_json::to_value(quipu_server::openapi()).unwrap();
    let input = &document["components"]["schemas"]["TaskInput"];
    // Words are an object too: `oneOf` would refuse them.
    assert!(input["oneOf"].is_null() && input["anyOf"].is_array(), "{input}");
}
