//! Two hosts on one data directory: the second is told so, with the way out.

use std::process::Command;

use super::{
    installed::{python, run, scripts},
    ways::Way,
};

#[test]
fn the_second_host_is_told_the_way_out_in_both_generations() {
    for generation in ["2025-11-25", "2026-07-28"] {
        let way = Way::embedded();
        let mut script = Command::new(python());
        script.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(way.directory.path());
        script.arg(scripts().join("python/directory.py")).arg(generation).args(&way.arguments);
        let said = run(&mut script);
        assert!(said.contains("all checks hold"), "{said}");
        way.finish();
    }
}
