//! `quipu mcp`: serves an MCP host over the standard streams, from a data directory or from a server.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use quipu_client::{ClientError, Field, Retry};
use quipu_field::with_causes;
use quipu_mcp::{Handler, HandlerOptions};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    time::timeout,
};

use crate::{
    args::client_args::client_failure,
    commands::mcp_caller::ClientCaller,
    signals::Signals,
    storage::data_dir,
    ui::{
        failure::Failure,
        logging::{self, LogFormat},
    },
};

const ABOUT: &str = "\
Serve an MCP host, such as Claude Code, Cursor or VS Code, over the standard streams.

The host starts this command and gives its model the memory as tools. The memory lies in --data,
which is made if it is not there, or on the server at --url. Logs go to stderr.

With --data, the host speaks with authority 4: it can read, record and work on its own
tasks. To let it settle conflicts, compact or purge, give it more with --authority. With --url,
its authority is that of its key.

A data directory belongs to one process at a time. For several hosts on one memory run
`quipu serve` and give each of them --url, or the server's own /mcp.

Example:
  claude mcp add quipu -- quipu mcp --data \"$HOME/.quipu\"";

const AFTER: &str = "\
In the configuration of a host:
  {\"mcpServers\": {\"quipu\": {\"command\": \"quipu\", \"args\": [\"mcp\", \"--data\", \"/path/to/quipu-data\"]}}}";

/// What a host may do unless told otherwise: a model may be fooled by what it reads, so not everything.
const HOST_AUTHORITY: u8 = 4;
/// While the server restarts, the host waits; longer than this it would rather know.
const RETRY: Retry = Retry {
    attempts: 32,
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_secs(2),
    within: Duration::from_secs(20),
};
/// How long to wait for a host to say something more that can be answered with why we do not start.
const NEXT_WORD: Duration = Duration::from_secs(5);
const FIRST_WORDS_BYTES_MAX: u64 = 1024 * 1024;

/// The arguments of `quipu mcp`.
#[derive(Debug, Args)]
#[command(about = "Serve an MCP host over the standard streams", long_about = ABOUT, after_help = AFTER)]
pub(crate) struct McpArgs {
    /// The data directory; not used with --url [default: ./quipu-data]
    #[arg(long, env = "QUIPU_DATA", hide_env_values = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address of a server that keeps the memory
    #[arg(long, env = "QUIPU_URL", hide_env_values = true, value_name = "URL")]
    url: Option<String>,
    /// Key to present to the server; not needed with `serve --dev`
    #[arg(long, env = "QUIPU_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
    /// The agent that speaks where a tool call names none [default: the key's own, else one named after the host]
    #[arg(long, env = "QUIPU_AGENT", hide_env_values = true, value_name = "ID")]
    agent: Option<String>,
    /// What the host may do to the memory in --data, from 0 to 10; with --url the key says it [default: 4]
    #[arg(
        long,
        env = "QUIPU_AUTHORITY",
        hide_env_values = true,
        value_name = "0..10",
        conflicts_with = "url",
        value_parser = clap::value_parser!(u8).range(0..=10)
    )]
    authority: Option<u8>,
    /// The role that it is registered with [default: that of its first ATTUNE, else `agent`]
    #[arg(long, env = "QUIPU_ROLE", hide_env_values = true, value_name = "ROLE")]
    role: Option<String>,
    /// The field to use [default: the key's own, else `default`]
    #[arg(long, env = "QUIPU_FIELD", hide_env_values = true, value_name = "NAME")]
    field: Option<String>,
    /// Certificates that an https server is checked against, in PEM
    #[arg(long, env = "QUIPU_CA_CERT", hide_env_values = true, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
    /// Lowest level of the log lines on stderr
    #[arg(
        long,
        env = "QUIPU_LOG_LEVEL",
        hide_env_values = true,
        value_name = "LEVEL",
        default_value = "warn"
    )]
    log_level: String,
}

/// Serves until the host closes the pipe or the process is told to stop.
pub(crate) async fn mcp(args: McpArgs) -> Result<(), Failure> {
    drop(logging::start(LogFormat::Text, &args.log_level)?);
    let (stop, mut hangups) = Signals::listen()?.split();
    let field = match open(&args).await {
        Ok(field) => field,
        Err(failure) => {
            answer_host(&failure).await;
            return Err(failure);
        }
    };
    let options = HandlerOptions { agent: args.agent.clone(), role: args.role.clone() };
    let handler = Handler::new(ClientCaller::new(field.clone()), options);
    let served = tokio::select! {
        served = handler.serve_stdio() => {
            served.map_err(|error| Failure::caused("the host could not be served", &error))
        }
        () = stop => Ok(()),
        // The host's terminal is gone.
        _ = hangups.recv() => Ok(()),
    };
    field.close().await;
    served
}

async fn open(args: &McpArgs) -> Result<Field, Failure> {
    let field = match &args.url {
        Some(url) => connect(args, url).map_err(|error| client_failure(&error))?,
        None => open_data(args).await?,
    };
    match &args.field {
        Some(name) => field.named(name).map_err(|error| client_failure(&error)),
        None => Ok(field),
    }
}

fn connect(args: &McpArgs, url: &str) -> Result<Field, ClientError> {
    let mut connect = Field::connect(url).retry(RETRY);
    if let Some(key) = &args.key {
        connect = connect.key(key);
    }
    if let Some(path) = &args.ca_cert {
        connect = connect.ca_cert(path);
    }
    connect.build()
}

async fn open_data(args: &McpArgs) -> Result<Field, Failure> {
    let dir = args.data.clone().unwrap_or_else(|| PathBuf::from("./quipu-data"));
    let authority = args.authority.unwrap_or(HOST_AUTHORITY);
    match Field::open_with_authority(&dir, authority).await {
        Ok(field) => {
            data_dir::forget_address(&dir);
            Ok(field)
        }
        Err(ClientError::InUse { .. }) => {
            let shown = dir.display();
            let problem = format!("another quipu process has the data directory {shown} open");
            Err(Failure::new(problem).advise(match data_dir::noted_address(&dir) {
                Some(url) => format!("it is a server: give this host `quipu mcp --url {url}` or {url}/mcp"),
                None => format!(
                    "run one server for all hosts, `quipu serve --data {shown}`, and give each of them \
                     `quipu mcp --url http://127.0.0.1:7070`; or give this host another --data"
                ),
            }))
        }
        Err(error) => Err(Failure::new(with_causes(&error))
            .advise("check that the path is right, and that this user may write there")),
    }
}

/// Hosts show what a server answers rather than what it says on stderr: so requests are answered with
/// why there will be no service. A client of 2026-07-28 asks twice: what fails it takes for an older
/// server, and begins again as one of 2025-11-25 does.
async fn answer_host(failure: &Failure) {
    let mut input = BufReader::new(tokio::io::stdin()).take(FIRST_WORDS_BYTES_MAX);
    loop {
        let mut line = String::new();
        match timeout(NEXT_WORD, input.read_line(&mut line)).await {
            Ok(Ok(bytes)) if bytes > 0 => {}
            _ => return,
        }
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        let Some(id) = request.get("id") else { continue };
        if !answered(id, failure).await || request["method"] == "initialize" {
            return;
        }
    }
}

/// Whether the host is there to be answered.
async fn answered(id: &Value, failure: &Failure) -> bool {
    let error = json!({"code": -32603, "message": failure.to_string()});
    let answer = format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error}));
    let mut output = tokio::io::stdout();
    output.write_all(answer.as_bytes()).await.is_ok() && output.flush().await.is_ok()
}
