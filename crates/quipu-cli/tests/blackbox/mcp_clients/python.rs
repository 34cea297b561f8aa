//! The official Python client, which speaks both generations.

use std::process::Command;

use super::{
    installed::{python, run, scripts},
    ways::Way,
};

#[track_caller]
fn check(generation: &str, way: Way) {
    let mut script = Command::new(python());
    script.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(way.directory.path());
    script.arg(scripts().join("python/check.py")).arg(generation).args(&way.arguments);
    let said = run(&mut script);
    assert!(said.contains("all checks hold"), "{said}");
    way.finish();
}

#[test]
fn with_sessions_over_the_standard_streams_with_the_field_inside() {
    check("2025-11-25", Way::embedded());
}

#[test]
fn with_sessions_over_the_standard_streams_before_a_server() {
    check("2025-11-25", Way::remote());
}

#[test]
fn with_sessions_over_http() {
    check("2025-11-25", Way::http(Some("--key")));
}

#[test]
fn without_sessions_over_the_standard_streams_with_the_field_inside() {
    check("2026-07-28", Way::embedded());
}

#[test]
fn without_sessions_over_the_standard_streams_before_a_server() {
    check("2026-07-28", Way::remote());
}

#[test]
fn without_sessions_over_http() {
    check("2026-07-28", Way::http(Some("--key")));
}
