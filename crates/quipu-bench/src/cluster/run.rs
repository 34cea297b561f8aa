//! Several nodes over one log: RECORD by many clients spread over all of them, beside what the log's own servers take
//! from somebody who writes the same bytes and does nothing else; how far a follower is behind; how fast a new node
//! catches up. Everything runs on this machine, so the nodes, the servers and the clients share its cores.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use quipu_engines::{NatsEngine, OpenError, PostgresEngine};
use quipu_log::{Engine, FieldName};
use quipu_testbed::{EngineKind, EngineServers, wait_until};
use serde_json::json;

use super::{
    baseline::{Baseline, bare_publishers, pgbench},
    catch_up,
    lag::LagProbe,
    meters::Meters,
};
use crate::measure::{
    corpus::{self, Dice},
    failure::Failure,
    http::{self, Load, LoadResult, MakeRequest},
    report::Report,
    server::{Server, cpu_of_family},
    stopwatch::rate,
    workplace::Workplace,
};

/// How long clients run before anything is counted.
const WARM_UP: Duration = Duration::from_secs(2);
/// A PostgreSQL as it comes, but for its connections; the testbed makes it smaller.
const POSTGRES_SETTINGS: [&str; 2] = ["shared_buffers=128MB", "max_connections=200"];

#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// What the nodes share: one PostgreSQL or three NATS servers, which the benchmark installs where they are missing,
    /// and starts itself
    #[arg(long, value_parser = PossibleValuesParser::new(["postgres", "nats"]).map(|name| engine_kind(&name)))]
    engine: EngineKind,
    /// How many nodes serve the same Fields
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// Clients, spread over the nodes and the Fields
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Numbers of Fields, one run for each
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    fields: Vec<usize>,
    /// Seconds for each run
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Where to keep the data while measuring; the disk that holds it is measured
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// Another build of quipu to measure, instead of this one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// One benchmark: its servers, and how to measure them bare.
struct Bench<'a> {
    args: &'a ClusterArgs,
    seed: u64,
    // Before the folder, so that nothing writes into it any more when it goes.
    servers: EngineServers,
    folder: Workplace,
}

fn engine_kind(name: &str) -> EngineKind {
    if name == "nats" { EngineKind::Nats } else { EngineKind::Postgres }
}

pub(crate) fn run(args: &ClusterArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    if args.nodes == 0 || args.clients == 0 || args.fields.contains(&0) {
        return Err(Failure::new("--nodes, --clients and --fields: one of each at least"));
    }
    let data =
        std::path::absolute(&args.data).map_err(|error| Failure::caused("--data", &error))?;
    let folder = Workplace::new(&data, "cluster");
    fs::create_dir_all(folder.path())
        .map_err(|error| Failure::caused("cannot make a folder", &error))?;
    let servers = EngineServers::start_in(folder.path(), args.engine, &POSTGRES_SETTINGS);
    let bench = Bench { args, seed, servers, folder };
    for (run, &fields) in args.fields.iter().enumerate() {
        bench.measure(run, fields, report)?;
    }
    Ok(())
}

impl Bench<'_> {
    fn measure(&self, run: usize, count: usize, report: &mut Report) -> Result<(), Failure> {
        let lasting = Duration::from_secs(self.args.seconds);
        let fields: Vec<String> = (0..count).map(|at| format!("run{run}-{at}")).collect();
        let nodes = self.start_nodes()?;
        for field in &fields {
            register(&nodes, field, "bench");
            register(&nodes, field, "probe");
        }
        let (clients, of) = (self.args.clients, nodes.len());
        let what = format!("{clients} clients, {of} nodes, {count} Fields");
        http::load_all(self.clients(&nodes, &fields, "w"), WARM_UP)?;
        let before = Meters::of(&nodes)?;
        let cpu = self.cpu(&nodes);
        let probe = LagProbe::start(&nodes, fields.first().map_or("", String::as_str))?;
        let result = http::load_all(self.clients(&nodes, &fields, "m"), lasting)?;
        let lag = probe.stop()?;
        let used = self.cpu(&nodes);
        let meters = Meters::of(&nodes)?.since(&before);
        let ours = rate(result.samples.len(), result.elapsed);
        report.latencies(&format!("RECORD, {what}"), &result.samples, Some(ours));
        refuse_failures(&result)?;
        report.latencies(&format!("until another node shows it, {what}"), &lag.behind, None);
        report.latencies(
            &format!("the same question to the node itself, {what}"),
            &lag.asked,
            None,
        );
        meters.report(&what, report);
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let requests = result.samples.len() as f64;
        for (whose, before, after) in [("nodes", cpu.0, used.0), ("log", cpu.1, used.1)] {
            let each = (after - before) / requests * 1e6;
            report.figure(&format!("CPU of the {whose} for each RECORD, {what}"), each, "us");
        }
        drop(nodes);
        let bare = self.bare(run, &fields, &meters, report)?;
        report.figure(&format!("{}, {what}", bare.what), bare.rate, "1/s");
        report.figure(&format!("RECORD / bare, {what}"), ours / bare.rate, "x");
        let engine = self.engine()?;
        let field = fields.first().and_then(|name| FieldName::try_from(name.as_str()).ok());
        field.map_or(Ok(()), |field| catch_up::measure(engine.as_ref(), &field, &what, report))
    }

    fn start_nodes(&self) -> Result<Vec<Server>, Failure> {
        let node = |at: usize| {
            let data = self.folder.path().join(format!("node-{at}"));
            let options = ["--log", &self.servers.url()];
            match &self.args.program {
                Some(program) => Server::start_program(program, &data, &options),
                None => Server::start_with(&data, &options),
            }
        };
        (0..self.args.nodes).map(node).collect()
    }

    /// What each client sends, and where.
    fn clients(&self, nodes: &[Server], fields: &[String], prefix: &str) -> Vec<Load> {
        let makes: Vec<MakeRequest> =
            fields.iter().map(|field| requests(self.seed, field, prefix)).collect();
        let one = |at: usize| {
            let node = nodes.get(at % nodes.len())?;
            let make = makes.get(at / nodes.len() % makes.len())?;
            Some(Load { address: node.address, make: Arc::clone(make) })
        };
        (0..self.args.clients).filter_map(one).collect()
    }

    /// The processor time of the nodes and of the log's servers.
    fn cpu(&self, nodes: &[Server]) -> (f64, f64) {
        let of_log = self.servers.process_ids().into_iter().map(cpu_of_family).sum();
        (nodes.iter().map(Server::cpu_seconds).sum(), of_log)
    }

    fn engine(&self) -> Result<Arc<dyn Engine>, Failure> {
        let failed = |error: OpenError| Failure::caused("cannot open the log", &error);
        let url = &self.servers.url();
        Ok(match self.args.engine {
            EngineKind::Postgres => Arc::new(PostgresEngine::open(url).map_err(failed)?),
            EngineKind::Nats => Arc::new(NatsEngine::open(url).map_err(failed)?),
        })
    }

    /// What the servers take from somebody who only writes.
    fn bare(
        &self,
        run: usize,
        fields: &[String],
        meters: &Meters,
        report: &mut Report,
    ) -> Result<Baseline, Failure> {
        let args = self.args;
        match &self.servers {
            EngineServers::Postgres(server) => {
                pgbench(server, self.folder.path(), args.clients, args.seconds, report)
            }
            EngineServers::Nats(_) => {
                let engine = self.engine()?;
                let names = (0..fields.len()).map(|at| format!("bare{run}-{at}")).collect();
                let lasting = Duration::from_secs(args.seconds);
                bare_publishers(&engine, names, meters.mean_batch(), lasting, self.seed)
            }
        }
    }
}

/// Registers an agent in a Field and lets every node know of it.
fn register(nodes: &[Server], field: &str, agent: &str) {
    let payload = json!({"id": agent, "role": "bench", "interests": []}).to_string();
    for node in nodes {
        let request = http::post_in(field, "/v1/register", agent, &format!("r-{agent}"), &payload);
        let is_registered = || {
            let sent = http::Connection::open(node.address)
                .and_then(|mut connection| connection.exchange(&request).map(|(status, _)| status));
            matches!(sent, Ok(200)).then_some(())
        };
        // Servers that have just started may not have found each other yet.
        wait_until(30, "every node takes a REGISTER", is_registered);
    }
}

/// Texts are made beforehand and used in turn, so that making them is not measured.
fn requests(seed: u64, field: &str, prefix: &str) -> MakeRequest {
    let mut dice = Dice::new(seed);
    let payloads: Vec<String> = (0..512).map(|_| corpus::record(&mut dice).to_string()).collect();
    let (field, prefix) = (field.to_owned(), prefix.to_owned());
    Arc::new(move |number| {
        let at = usize::try_from(number).unwrap_or(0) % payloads.len();
        let payload = payloads.get(at).map_or("", String::as_str);
        http::post_in(&field, "/v1/record", "bench", &format!("{prefix}-{number}"), payload)
    })
}

fn refuse_failures(result: &LoadResult) -> Result<(), Failure> {
    match result.failures {
        0 => Ok(()),
        failures => Err(Failure::new(format!("{failures} requests were refused"))),
    }
}
