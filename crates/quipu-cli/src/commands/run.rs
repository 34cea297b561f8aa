//! Runs the command that was asked for, in the runtime that it needs.

use std::future::Future;

use super::{
    attune, cli::Command, conformance, export, import, key, mcp, moving, proof, receipt, record,
    register, replay, serve, status, verify,
};
use crate::{args::config::Settings, module_runner, ui::failure::Failure};

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(args) => {
            let settings = Settings::load((*args).clone())?;
            wait_for(server_runtime(), serve::serve(*args, settings))
        }
        Command::Mcp(args) => {
            let runtime = server_runtime();
            let (served, runtime) = finish(runtime, mcp::mcp(*args))?;
            // A thread may still wait for the next line of a terminal, and would wait for ever.
            runtime.shutdown_background();
            served
        }
        Command::Key(args) => key::key(args.action),
        Command::Verify(args) => verify::verify(&args),
        Command::Export(args) => export::export(&args),
        Command::Import(args) => import::import(&args),
        Command::Move(args) => moving::move_log(&args),
        Command::Register(args) => alone(register::register(args)),
        Command::Record(args) => alone(record::record(args)),
        Command::Attune(args) => alone(attune::attune(args)),
        Command::Proof(args) => alone(proof::proof(args)),
        Command::Receipt(args) => receipt::receipt(&args.action),
        Command::Replay(args) => alone(replay::replay(args)),
        Command::Status(args) => alone(status::status(args)),
        Command::Conformance(args) => conformance::conformance(&args),
        Command::ModuleRunner(limits) => module_runner::serve_module(limits),
    }
}

/// One thread less than there are cores serves sockets, because each Field's writer has a thread of its
/// own. Measured on two cores: a second one costs more in waking each other than it does work.
fn server_runtime() -> tokio::runtime::Builder {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(cores.saturating_sub(1).max(1));
    runtime
}

fn alone(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    wait_for(tokio::runtime::Builder::new_current_thread(), work)
}

fn wait_for(
    runtime: tokio::runtime::Builder,
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    finish(runtime, work)?.0
}

/// Runs work to its end; what it left behind in the runtime is for the caller to end.
fn finish<T>(
    mut runtime: tokio::runtime::Builder,
    work: impl Future<Output = T>,
) -> Result<(T, tokio::runtime::Runtime), Failure> {
    let runtime = runtime
        .enable_all()
        .build()
        .map_err(|error| Failure::caused("cannot start the runtime", &error))?;
    Ok((runtime.block_on(work), runtime))
}
