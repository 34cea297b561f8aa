//! The official TypeScript clients: one package for each generation.

use super::{
    installed::{Node, run},
    ways::Way,
};

#[track_caller]
fn check(generation: &str, way: Way) {
    let mut script = Node::installed().script("check.mjs", way.directory.path());
    let said = run(script.arg(generation).args(&way.arguments));
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
    check("2025-11-25", Way::http(None));
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
    check("2026-07-28", Way::http(None));
}
