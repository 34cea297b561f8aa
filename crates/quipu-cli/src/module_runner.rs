//! A module in a process of its own: how a server starts it from its own binary, and what that process does. It limits
//! itself before it reads anything, has no variables and no files, and knows nothing but what its module is told.

use std::{io, path::PathBuf, time::Duration};

use clap::Args;
use quipu_server::{ModuleHost, ModuleProcesses, ModuleRunner};

use crate::ui::failure::Failure;

/// Serve one `.harn` module over standard input and output.
///
/// A server starts this for each module that runs, and ends it afterwards. It is no command for people.
///
/// Example, as a server does it:
///   quipu module-runner --memory-mib 512 --seconds 30
#[derive(Debug, Clone, Copy, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ModuleLimits {
    /// Memory beyond what the process has when it begins
    #[arg(long, value_name = "MIB")]
    pub(crate) memory_mib: u64,
    /// Processor time
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: u64,
}

impl Default for ModuleLimits {
    fn default() -> Self {
        Self { memory_mib: 512, seconds: 30 }
    }
}

/// Where the modules of a server run: in processes of this same binary.
pub(crate) fn module_host(limits: ModuleLimits) -> ModuleHost {
    let arguments = [
        "module-runner".to_owned(),
        "--memory-mib".to_owned(),
        limits.memory_mib.to_string(),
        "--seconds".to_owned(),
        limits.seconds.to_string(),
    ];
    ModuleHost::Processes(ModuleProcesses::new(ModuleRunner {
        program: own_binary(),
        arguments: arguments.map(Into::into).to_vec(),
        // A process may wait for its turn on a busy machine as long as it computes.
        silence: Duration::from_secs(limits.seconds.saturating_mul(2)),
    }))
}

/// This binary, also where its file was replaced since by a newer one: what is running stays one version.
#[cfg(target_os = "linux")]
fn own_binary() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

#[cfg(not(target_os = "linux"))]
fn own_binary() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("quipu"))
}

pub(crate) fn serve_module(limits: ModuleLimits) -> Result<(), Failure> {
    limit_itself(limits).map_err(|error| Failure::caused("cannot limit this process", &error))?;
    quipu_replay::module::serve(io::stdin().lock(), io::stdout().lock())
        .map_err(|error| Failure::caused("the server is gone", &error))
}

/// From here on there is no more memory and processor time than this, no file and no socket but the pipes.
#[cfg(unix)]
fn limit_itself(limits: ModuleLimits) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let memory = limits.memory_mib.saturating_mul(1024 * 1024);
    let space = memory.saturating_add(address_space());
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Data, memory),
        (Resource::As, space),
        (Resource::Fsize, 0),
        (Resource::Nofile, 3),
    ] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    // The first ends it with a signal that says why, the second is for who does not listen to it.
    let (listens, ends) = (Some(limits.seconds), Some(limits.seconds.saturating_add(1)));
    setrlimit(Resource::Cpu, Rlimit { current: listens, maximum: ends })?;
    die_with_the_server()
}

#[cfg(not(unix))]
fn limit_itself(_: ModuleLimits) -> io::Result<()> {
    Err(io::Error::other("a process cannot be limited on this system"))
}

/// How much address space the process has before it begins: most of it is the program itself.
#[cfg(unix)]
fn address_space() -> u64 {
    const USUAL: u64 = 1024 * 1024 * 1024;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| {
        line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    kib.map_or(USUAL, |kib| kib.saturating_mul(1024))
}

#[cfg(target_os = "linux")]
fn die_with_the_server() -> io::Result<()> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn die_with_the_server() -> io::Result<()> {
    Ok(())
}
