//! How a process ended, in our words.

use std::process::ExitStatus;

use quipu_replay::module::DeathCause;

#[cfg(unix)]
pub(super) fn cause_of(status: ExitStatus) -> DeathCause {
    use std::os::unix::process::ExitStatusExt;
    const ABORT: i32 = 6;
    const KILL: i32 = 9;
    const OUT_OF_PROCESSOR_TIME: i32 = 24;
    match status.signal() {
        Some(ABORT) => DeathCause::Memory,
        Some(KILL) => DeathCause::Killed,
        Some(OUT_OF_PROCESSOR_TIME) => DeathCause::ProcessorTime,
        Some(signal) => DeathCause::Ended { status: signal },
        None => DeathCause::Ended { status: status.code().unwrap_or_default() },
    }
}

#[cfg(not(unix))]
pub(super) fn cause_of(status: ExitStatus) -> DeathCause {
    DeathCause::Ended { status: status.code().unwrap_or_default() }
}
