//! Processes that are no runners of modules: whatever they do, whoever waits for them is told.

use std::{ffi::OsString, sync::Arc, time::Duration};

use quipu_replay::module::{DeathCause, RunError};

use super::processes::{ModuleProcesses, ModuleRunner};

fn shell(script: &str) -> Arc<ModuleProcesses> {
    let arguments = ["-c", script].map(OsString::from).to_vec();
    let silence = Duration::from_millis(500);
    ModuleProcesses::new(ModuleRunner { program: "/bin/sh".into(), arguments, silence })
}

fn compiled_by(script: &str) -> RunError {
    match shell(script).compile("pub fn entry(input: any) { return input }", "entry") {
        Ok(_) => panic!("{script} compiles nothing"),
        Err(error) => error,
    }
}

#[test]
fn a_process_that_ends_says_nothing_or_speaks_nonsense_is_a_death_with_its_cause() {
    for (script, cause) in [
        ("kill -6 $$", DeathCause::Memory),
        ("kill -9 $$", DeathCause::Killed),
        ("kill -24 $$", DeathCause::ProcessorTime),
        ("exit 7", DeathCause::Ended { status: 7 }),
        ("echo these are words and no frame; cat >/dev/null", DeathCause::Nonsense),
        ("while :; do :; done", DeathCause::Silence { seconds: 0 }),
    ] {
        let RunError::Died(death) = compiled_by(script) else { panic!("{script}") };
        assert_eq!(death.cause, cause, "{script}");
    }
}

#[test]
fn a_program_that_is_not_there_is_no_death() {
    let runner = ModuleRunner {
        program: "/nowhere/quipu".into(),
        arguments: Vec::new(),
        silence: Duration::from_secs(1),
    };
    let refused = ModuleProcesses::new(runner).compile("", "entry").map(|_| ()).unwrap_err();
    assert!(matches!(refused, RunError::NotNow { .. }), "{refused}");
}

#[test]
fn stopping_ends_what_runs_and_starts_no_more_and_nobody_died_of_it() {
    let processes = shell("echo started >&2; cat >/dev/null; cat");
    let compiling = {
        let processes = Arc::clone(&processes);
        std::thread::spawn(move || processes.compile("x", "entry").map(|_| ()))
    };
    processes.stop();
    let ended = compiling.join().unwrap().unwrap_err();
    assert!(matches!(ended, RunError::NotNow { .. }), "{ended}");
    let refused = processes.compile("x", "entry").map(|_| ()).unwrap_err();
    assert!(matches!(refused, RunError::NotNow { .. }), "{refused}");
}
