//! Many small Fields in one server: each is used once, far more of them than stay open. What they cost
//! together, and how long it takes until one that was put away answers again.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use serde_json::json;

use crate::measure::{
    corpus::{self, Dice},
    failure::Failure,
    http::Connection,
    report::Report,
    server::Server,
    stopwatch::{Samples, Stopwatch, rate},
    workplace::Workplace,
};

#[derive(Debug, Args)]
pub(crate) struct FieldsArgs {
    /// Where to keep the data while measuring
    #[arg(long, default_value = ".")]
    data: PathBuf,
    /// How many Fields
    #[arg(long, default_value_t = 10_000)]
    fields: usize,
    /// How many of them are open at a time
    #[arg(long, default_value_t = 256)]
    open: usize,
    /// How many units each has
    #[arg(long, default_value_t = 3)]
    units: usize,
    /// How many are asked again
    #[arg(long, default_value_t = 1000)]
    again: usize,
}

pub(crate) fn run(args: &FieldsArgs, seed: u64, report: &mut Report) -> Result<(), Failure> {
    let folder = Workplace::new(&args.data, "fields");
    let open = args.open.to_string();
    let server = Server::start_with(
        folder.path(),
        &["--fields-open", &open, "--log-level", "warn", "--detect=false"],
    )?;
    let mut requests = Requests::new(server.address, seed)?;
    report_server(report, "with one Field", &server);
    let watch = Stopwatch::start();
    let mut made = Samples::default();
    for field in 0..args.fields {
        let watch = Stopwatch::start();
        requests.fill(field, args.units)?;
        made.push(watch.elapsed());
        if field + 1 == args.open {
            report_server(report, &format!("with {} Fields, all open", args.open), &server);
        }
    }
    let made_rate = rate(args.fields, watch.elapsed());
    report.latencies("a Field made, an agent and its units", &made, Some(made_rate));
    report_server(report, &format!("with {} Fields, {} open", args.fields, args.open), &server);
    let (mut away, mut here) = (Samples::default(), Samples::default());
    for at in 0..args.again {
        let field = at * args.fields / args.again.max(1);
        for samples in [&mut away, &mut here] {
            let watch = Stopwatch::start();
            requests.attune(field)?;
            samples.push(watch.elapsed());
        }
    }
    report.latencies("ATTUNE of a Field that was put away", &away, None);
    report.latencies("the same again, now that it is open", &here, None);
    report_server(report, "after that", &server);
    Ok(())
}

fn report_server(report: &mut Report, when: &str, server: &Server) {
    let mebibytes = server.resident_bytes() / 1024.0 / 1024.0;
    report.figure(&format!("memory {when}"), mebibytes, "MiB");
    report.figure(&format!("threads {when}"), server.count("task"), "threads");
    report.figure(&format!("open files {when}"), server.count("fd"), "files");
}

/// Sends one request after the other.
struct Requests {
    connection: Connection,
    dice: Dice,
    sent: u64,
}

impl Requests {
    fn new(address: SocketAddr, seed: u64) -> Result<Self, Failure> {
        let connection = Connection::open(address)
            .map_err(|error| Failure::caused("cannot connect to the server", &error))?;
        Ok(Self { connection, dice: Dice::new(seed), sent: 0 })
    }

    fn fill(&mut self, field: usize, units: usize) -> Result<(), Failure> {
        self.post(field, "register", &json!({"id": "filler", "role": "bench"}).to_string())?;
        for _ in 0..units {
            let unit = corpus::record_for(&mut self.dice, corpus::TASKS).to_string();
            self.post(field, "record", &unit)?;
        }
        Ok(())
    }

    fn attune(&mut self, field: usize) -> Result<(), Failure> {
        let scope = json!({"role": "bench", "max_units": 5, "include_own": true});
        self.post(field, "attune", &json!({"scope": scope, "context_hint": "ships"}).to_string())
    }

    fn post(&mut self, field: usize, operation: &str, body: &str) -> Result<(), Failure> {
        self.sent += 1;
        let request = format!(
            "POST /v1/{operation} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nquipu-field: f{field}\r\n\
             akashik-agent: filler\r\nakashik-message-id: m{}\r\ncontent-length: {}\r\n\r\n{body}",
            self.sent,
            body.len()
        );
        let failed = |what: &str| Failure::new(format!("{operation} of Field f{field}: {what}"));
        match self.connection.exchange(request.as_bytes()) {
            Ok((200, _)) => Ok(()),
            Ok((status, said)) => {
                Err(failed(&format!("{status} {}", String::from_utf8_lossy(said))))
            }
            Err(error) => Err(failed(&error.to_string())),
        }
    }
}
