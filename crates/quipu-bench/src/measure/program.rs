//! The `quipu` that is measured: the one that lies beside this program, as users run it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::measure::failure::Failure;

/// Under `cargo run`, builds it first: it would be of another day than this program, or not there at all.
pub(crate) fn build() -> Result<(), Failure> {
    let is_run_by_cargo =
        env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME"));
    let (true, Some(cargo), Some(sources)) =
        (is_run_by_cargo, env::var_os("CARGO"), env::var_os("CARGO_MANIFEST_DIR"))
    else {
        return Ok(());
    };
    let failed = |why: String| Failure::new(format!("cannot build quipu: {why}"));
    let words = build_command(&own_path()?);
    let built = Command::new(cargo).current_dir(sources).args(words.split(' ').skip(1)).status();
    match built {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(failed(format!("`{words}` failed"))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Where it is.
pub(crate) fn quipu() -> Result<PathBuf, Failure> {
    let own = own_path()?;
    let beside = own.with_file_name(format!("quipu{}", env::consts::EXE_SUFFIX));
    if beside.is_file() {
        return Ok(beside);
    }
    let (path, words) = (beside.display(), build_command(&own));
    Err(Failure::new(format!("there is no server at {path}; `{words}` builds it")))
}

fn own_path() -> Result<PathBuf, Failure> {
    env::current_exe()
        .map_err(|error| Failure::caused("cannot find the file of this program", &error))
}

/// What builds a server in the folder of this program, with the same optimisation.
fn build_command(own: &Path) -> String {
    let folder = own.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let profile = folder.filter(|name| *name != "debug").unwrap_or("dev");
    format!("cargo build --profile {profile} --package quipu-cli")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_built_as_this_program_was() {
        let of = |path: &str| build_command(Path::new(path));
        assert_eq!(
            of("target/release/quipu-bench"),
            "cargo build --profile release --package quipu-cli"
        );
        assert_eq!(of("target/debug/quipu-bench"), "cargo build --profile dev --package quipu-cli");
    }

    #[test]
    fn a_missing_server_is_named_with_the_command_that_builds_it() {
        // The program of the tests lies in a folder of its own, where no server is.
        let failure = quipu().unwrap_err().to_string();
        assert!(failure.contains("there is no server at "), "{failure}");
        assert!(failure.contains("`cargo build --profile "), "{failure}");
    }
}
