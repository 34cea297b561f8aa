//! What MCP costs: `akashik_attune` through the pipe of `quipu mcp`, beside the same question put to the same
//! memory inside this process. Both in turns, so that what else the machine does befalls both.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use clap::Args;
use quipu_client::{Agent, ClientError, Field};
use quipu_wire::akashik::Operation;
use serde_json::{Value, json};

use super::open::{fill, runtime};
use crate::measure::{
    corpus::{Dice, TASKS, sentence},
    failure::Failure,
    program::quipu,
    report::Report,
    stopwatch::{Samples, Stopwatch},
    workplace::Workplace,
};

const READER: &str = "reader";

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Where to keep the data while measuring
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Sizes of the Field
    #[arg(long, value_delimiter = ',', default_value = "1000,10000")]
    units: Vec<usize>,
    /// How often each way is asked
    #[arg(long, default_value_t = 1000)]
    calls: usize,
}

pub(crate) fn run(args: &McpArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let runtime = runtime()?;
    for &units in &args.units {
        let [inside, outside] = ["inside", "outside"]
            .map(|way| Workplace::new(&args.data, &format!("mcp-{way}-{units}")));
        for folder in [&inside, &outside] {
            runtime.block_on(fill(folder.path(), units, seed, TASKS))?;
        }
        let failed = |error: ClientError| Failure::caused("cannot ask the Field", &error);
        let field = runtime.block_on(Field::open(inside.path())).map_err(failed)?;
        let agent = field.agent(READER, READER).map_err(failed)?;
        runtime.block_on(agent.join()).map_err(failed)?;
        let mut host = Host::start(outside.path())?;
        let mut dice = Dice::new(seed ^ 0x3c9);
        let (mut direct, mut piped) = (Samples::default(), Samples::default());
        for number in 0..args.calls + WARM_UP {
            let question = question(&mut dice);
            let took = runtime.block_on(ask_inside(&agent, &question)).map_err(failed)?;
            let through_pipe = host.ask(&question)?;
            // What is read for the first time is slower, either way.
            if number >= WARM_UP {
                direct.push(took);
                piped.push(through_pipe);
            }
        }
        report.latencies(&format!("ATTUNE, {units} units, embedded"), &direct, None);
        report.latencies(&format!("akashik_attune, {units} units, over stdio"), &piped, None);
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let added = piped.percentile(share) - direct.percentile(share);
            report.figure(&format!("added by MCP over stdio, {units} units, {name}"), added, "us");
        }
        runtime.block_on(field.close());
    }
    Ok(())
}

/// Calls that are not counted.
const WARM_UP: usize = 50;

fn question(dice: &mut Dice) -> Value {
    let scope = json!({"role": READER, "max_units": 10, "include_own": true});
    json!({"scope": scope, "context_hint": sentence(dice)})
}

async fn ask_inside(agent: &Agent, question: &Value) -> Result<std::time::Duration, ClientError> {
    let watch = Stopwatch::start();
    agent.call_raw(Operation::Attune, question, None).await?;
    Ok(watch.elapsed())
}

/// `quipu mcp`, started as a host starts it; killed when dropped.
struct Host {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Host {
    fn start(data: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(quipu()?);
        command.args(["mcp", "--agent", READER, "--role", READER, "--data"]).arg(data);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| broken(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = pipes else { return Err(Failure::new("no pipes")) };
        let mut host = Self { child, input, output: BufReader::new(output) };
        let client = json!({"name": "bench", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        host.exchange(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        )?;
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(host)
    }

    fn ask(&mut self, question: &Value) -> Result<std::time::Duration, Failure> {
        let params = json!({"name": "akashik_attune", "arguments": question});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let watch = Stopwatch::start();
        let line = self.exchange(&call)?;
        let took = watch.elapsed();
        let answer: Value = serde_json::from_str(&line).unwrap_or_default();
        if answer["result"]["structuredContent"]["status"] != "ok" {
            return Err(Failure::new(format!("the tool did not answer: {line}")));
        }
        Ok(took)
    }

    fn exchange(&mut self, message: &Value) -> Result<String, Failure> {
        self.send(message)?;
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| broken(&error))?;
        Ok(line)
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let line = format!("{message}\n");
        self.input
            .write_all(line.as_bytes())
            .and_then(|()| self.input.flush())
            .map_err(|error| broken(&error))
    }
}

fn broken(error: &std::io::Error) -> Failure {
    Failure::caused("`quipu mcp` does not answer", error)
}

impl Drop for Host {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
