//! What `quipu serve` runs with. Every option can be a flag, a `QUIPU_…` variable or a key of the config
//! file; a flag beats the variable, the variable beats the file, the file beats the default.

use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum, builder::BoolishValueParser};
use quipu_field::limits::REPLAY_EVENTS_MAX;
use quipu_server::{REQUESTS_PER_SECOND, TlsFiles};
use serde::Deserialize;

use crate::{
    args::{config_fields::FieldArgs, config_harn::HarnArgs, config_models::ModelArgs},
    storage::log_address::LogAddress,
    ui::{failure::Failure, logging::LogFormat},
};

/// The config file that is read when none is named, if it is there.
const DEFAULT_FILE: &str = "quipu.toml";
const DEFAULT_DATA: &str = "./quipu-data";
const DEFAULT_LEVEL: &str = "info";
const DEFAULT_PORT: u16 = 7070;

/// The options of `quipu serve` as flags and variables.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:7070]
    #[arg(long, env = "QUIPU_LISTEN", hide_env_values = true, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Directory of the log, the snapshots and the keys [default: ./quipu-data]
    #[arg(long, env = "QUIPU_DATA", hide_env_values = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Where the log is: `sqlite:` in the data directory, `memory:`, `postgres://…` or `nats://…`
    /// (docs/engines.md) [default: sqlite:]
    #[arg(long, env = "QUIPU_LOG", hide_env_values = true, value_name = "URL")]
    pub(crate) log: Option<String>,
    /// Config file [default: quipu.toml, if there is one]
    #[arg(long, env = "QUIPU_CONFIG", hide_env_values = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Certificate chain for https, in PEM
    #[arg(long, env = "QUIPU_TLS_CERT", hide_env_values = true, value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM
    #[arg(long, env = "QUIPU_TLS_KEY", hide_env_values = true, value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// No keys: every caller has authority 10. Only on a loopback address
    #[arg(
        long,
        env = "QUIPU_DEV",
        hide_env_values = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) dev: Option<bool>,
    /// Form of the log lines on stderr [default: text]
    #[arg(long, env = "QUIPU_LOG_FORMAT", hide_env_values = true, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Lowest level of the log lines, or directives such as info,quipu_server=debug [default: info]
    #[arg(long, env = "QUIPU_LOG_LEVEL", hide_env_values = true, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Largest size of one field's log, in bytes; beyond it RECORD answers STORAGE_FULL [default: none]
    #[arg(long, env = "QUIPU_MAX_LOG_BYTES", hide_env_values = true, value_name = "N")]
    pub(crate) max_log_bytes: Option<u64>,
    /// Show the units of every session to all agents, under the sessions' other rules
    #[arg(
        long,
        env = "QUIPU_CROSS_SESSION_VISIBILITY",
        hide_env_values = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) cross_session_visibility: Option<bool>,
    /// Note in the log what each ATTUNE returned, so that REPLAY can show it
    #[arg(
        long,
        env = "QUIPU_TRACE_ATTUNES",
        hide_env_values = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) trace_attunes: Option<bool>,
    /// Most events that one REPLAY returns; beyond it answers REPLAY_TOO_LARGE [default: 10000]
    #[arg(long, env = "QUIPU_REPLAY_EVENTS_MAX", hide_env_values = true, value_name = "N")]
    pub(crate) replay_events_max: Option<usize>,
    /// Requests that each key may send per second, with bursts of five times as many; 0 for no limit.
    /// Not with --dev [default: 2000]
    #[arg(long, env = "QUIPU_REQUESTS_PER_SECOND", hide_env_values = true, value_name = "N")]
    pub(crate) requests_per_second: Option<u32>,
    /// What each signal is worth to ATTUNE, such as semantic=0.9,hinted.recency=0.2 [default: docs/ranking.md]
    #[arg(long, env = "QUIPU_RANK_WEIGHTS", hide_env_values = true, value_name = "WEIGHTS")]
    pub(crate) rank_weights: Option<String>,
    /// How ATTUNE counts tokens where its scope does not say [default: o200k]
    #[arg(long, env = "QUIPU_TOKENIZER", hide_env_values = true, value_enum, value_name = "NAME")]
    pub(crate) tokenizer: Option<TokenizerName>,
    /// Whether RECORD looks for units that disagree; DETECT does in any case [default: true]
    #[arg(
        long,
        env = "QUIPU_DETECT",
        hide_env_values = true,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new()
    )]
    pub(crate) detect: Option<bool>,
    /// Milliseconds a RECORD waits for detection before it is deferred; 0 defers always [default: 25]
    #[arg(long, env = "QUIPU_DETECT_BUDGET_MS", hide_env_values = true, value_name = "N")]
    pub(crate) detect_budget_ms: Option<u64>,
    /// Units that one DETECT scan compares before it answers with a cursor [default: 5000]
    #[arg(long, env = "QUIPU_DETECT_SCAN_UNITS", hide_env_values = true, value_name = "N")]
    pub(crate) detect_scan_units: Option<NonZeroUsize>,
    /// How sure detection must be to open a conflict, above 0.0 and up to 1.0 [default: 0.6]
    #[arg(long, env = "QUIPU_DETECT_SURENESS", hide_env_values = true, value_name = "SHARE")]
    pub(crate) detect_sureness: Option<f64>,
    #[command(flatten)]
    pub(crate) fields: FieldArgs,
    #[command(flatten)]
    pub(crate) models: ModelArgs,
    #[command(flatten)]
    pub(crate) harn: HarnArgs,
}

/// An encoding of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TokenizerName {
    /// The encoding of newer models
    #[default]
    O200k,
    /// The encoding before it
    Cl100k,
}

/// The same options as keys of the config file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOptions {
    listen: Option<SocketAddr>,
    data: Option<PathBuf>,
    log: Option<String>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    dev: Option<bool>,
    log_format: Option<LogFormat>,
    log_level: Option<String>,
    max_log_bytes: Option<u64>,
    cross_session_visibility: Option<bool>,
    trace_attunes: Option<bool>,
    replay_events_max: Option<usize>,
    requests_per_second: Option<u32>,
    rank_weights: Option<String>,
    tokenizer: Option<TokenizerName>,
    detect: Option<bool>,
    detect_budget_ms: Option<u64>,
    detect_scan_units: Option<NonZeroUsize>,
    detect_sureness: Option<f64>,
    fields: Option<FieldArgs>,
    models: Option<ModelArgs>,
    harn: Option<HarnArgs>,
}

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) file: Option<PathBuf>,
    pub(crate) listen: SocketAddr,
    pub(crate) data: PathBuf,
    pub(crate) log: LogAddress,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) dev: bool,
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: String,
    pub(crate) max_log_bytes: Option<u64>,
    pub(crate) cross_session_visibility: bool,
    pub(crate) trace_attunes: bool,
    pub(crate) replay_events_max: usize,
    pub(crate) requests_per_second: Option<NonZeroU32>,
    pub(crate) rank_weights: String,
    pub(crate) tokenizer: TokenizerName,
    pub(crate) detect: bool,
    pub(crate) detect_budget_ms: u64,
    pub(crate) detect_scan_units: usize,
    pub(crate) detect_sureness: f64,
    pub(crate) fields: FieldArgs,
    pub(crate) models: ModelArgs,
    pub(crate) harn: HarnArgs,
}

impl Settings {
    /// Reads the config file, if there is one, and settles every option.
    pub(crate) fn load(args: ServeArgs) -> Result<Self, Failure> {
        let path = args.config.clone().unwrap_or_else(|| DEFAULT_FILE.into());
        match read_file(&path)? {
            Some(file) => Ok(Self { file: Some(path), ..Self::settle(args, file)? }),
            None if args.config.is_none() => Self::settle(args, FileOptions::default()),
            None => Err(Failure::new(format!("there is no config file {}", path.display()))
                .advise("name an existing one with --config, or leave it out")),
        }
    }

    fn settle(args: ServeArgs, file: FileOptions) -> Result<Self, Failure> {
        let log = args.log.or(file.log);
        let cert = args.tls_cert.or(file.tls_cert);
        let key = args.tls_key.or(file.tls_key);
        let default_listen = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
        Ok(Self {
            file: None,
            listen: args.listen.or(file.listen).unwrap_or(default_listen),
            data: args.data.or(file.data).unwrap_or_else(|| DEFAULT_DATA.into()),
            log: log.as_deref().map_or(Ok(LogAddress::Sqlite), LogAddress::parse)?,
            tls: tls_files(cert, key)?,
            dev: args.dev.or(file.dev).unwrap_or(false),
            log_format: args.log_format.or(file.log_format).unwrap_or_default(),
            log_level: args.log_level.or(file.log_level).unwrap_or_else(|| DEFAULT_LEVEL.into()),
            max_log_bytes: args.max_log_bytes.or(file.max_log_bytes),
            cross_session_visibility: args
                .cross_session_visibility
                .or(file.cross_session_visibility)
                .unwrap_or(false),
            trace_attunes: args.trace_attunes.or(file.trace_attunes).unwrap_or(false),
            replay_events_max: args
                .replay_events_max
                .or(file.replay_events_max)
                .unwrap_or(REPLAY_EVENTS_MAX),
            requests_per_second: NonZeroU32::new(
                args.requests_per_second
                    .or(file.requests_per_second)
                    .unwrap_or(REQUESTS_PER_SECOND),
            ),
            rank_weights: args.rank_weights.or(file.rank_weights).unwrap_or_default(),
            tokenizer: args.tokenizer.or(file.tokenizer).unwrap_or_default(),
            detect: args.detect.or(file.detect).unwrap_or(true),
            detect_budget_ms: args
                .detect_budget_ms
                .or(file.detect_budget_ms)
                .unwrap_or(quipu_field::limits::DETECT_BUDGET_MS),
            detect_scan_units: args
                .detect_scan_units
                .or(file.detect_scan_units)
                .map_or(quipu_field::limits::SCAN_UNITS_MAX, NonZeroUsize::get),
            detect_sureness: sureness(args.detect_sureness.or(file.detect_sureness))?,
            fields: args.fields.or(file.fields.unwrap_or_default()),
            models: args.models.or(file.models.unwrap_or_default()),
            harn: args.harn.or(file.harn.unwrap_or_default()),
        })
    }
}

fn sureness(given: Option<f64>) -> Result<f64, Failure> {
    let sureness = given.unwrap_or(quipu_field::limits::DETECT_SURENESS);
    if sureness > 0.0 && sureness <= 1.0 {
        return Ok(sureness);
    }
    Err(Failure::new(format!("detection cannot be sure to {sureness}"))
        .advise("give --detect-sureness a number above 0.0 and up to 1.0"))
}

fn read_file(path: &Path) -> Result<Option<FileOptions>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => parse_file(path, &text).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Failure::caused(format!("cannot read the config file {}", path.display()), &error))
        }
    }
}

fn parse_file(path: &Path, text: &str) -> Result<FileOptions, Failure> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let what = error.message().replace("unknown field", "unknown key");
        Failure::new(format!("{} line {line}: {what}", path.display()))
            .advise("correct that line; `quipu serve --help` explains every key")
    })
}

fn tls_files(cert: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<TlsFiles>, Failure> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(Failure::new("there is a TLS certificate but no key")
            .advise("name its private key with --tls-key")),
        (None, Some(_)) => Err(Failure::new("there is a TLS key but no certificate")
            .advise("name its certificate chain with --tls-cert")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn args(flags: &[&str]) -> ServeArgs {
        Line::try_parse_from([&["serve"], flags].concat()).unwrap().serve
    }

    fn settle(flags: &[&str], file: &str) -> Settings {
        let file = parse_file(Path::new("quipu.toml"), file).unwrap();
        Settings::settle(args(flags), file).unwrap()
    }

    #[test]
    fn without_anything_the_defaults_hold() {
        let settings = settle(&[], "");
        assert_eq!(settings.listen.to_string(), "127.0.0.1:7070");
        assert_eq!(settings.data, Path::new("./quipu-data"));
        assert_eq!(settings.log, LogAddress::Sqlite);
        assert_eq!(settings.log_format, LogFormat::Text);
        assert_eq!(settings.log_level, "info");
        assert_eq!(settings.max_log_bytes, None);
        assert_eq!(settings.requests_per_second, NonZeroU32::new(2000));
        assert!(settings.detect && settings.detect_budget_ms == 25);
        assert!(!settings.dev && settings.tls.is_none());
        assert!(!settings.cross_session_visibility && !settings.trace_attunes);
        assert_eq!(settings.replay_events_max, 10_000);
        assert_eq!(
            (settings.rank_weights.as_str(), settings.tokenizer),
            ("", TokenizerName::O200k)
        );
    }

    #[test]
    fn the_file_beats_the_defaults() {
        let file = "listen = '[::1]:1'\ndata = 'd'\nlog = 'memory:'\ntls_cert = 'c'\ntls_key = 'k'\n\
                    dev = true\nlog_format = 'json'\nlog_level = 'warn'\nmax_log_bytes = 5\n\
                    cross_session_visibility = true\ntrace_attunes = true\nreplay_events_max = 7\n\
                    requests_per_second = 7\nrank_weights = 'task=1'\ntokenizer = 'cl100k'\n";
        let settings = settle(&[], file);
        assert_eq!(settings.listen.to_string(), "[::1]:1");
        assert_eq!(settings.data, Path::new("d"));
        assert_eq!(settings.log, LogAddress::Memory);
        assert_eq!(settings.tls.unwrap().key, Path::new("k"));
        assert_eq!(settings.log_format, LogFormat::Json);
        assert_eq!(settings.log_level, "warn");
        assert_eq!(settings.max_log_bytes, Some(5));
        assert!(settings.dev && settings.cross_session_visibility && settings.trace_attunes);
        assert_eq!(settings.replay_events_max, 7);
        assert_eq!(settings.requests_per_second, NonZeroU32::new(7));
        assert_eq!(settings.rank_weights, "task=1");
        assert_eq!(settings.tokenizer, TokenizerName::Cl100k);
    }

    #[test]
    fn a_flag_beats_the_file_also_to_turn_something_off() {
        let file = "listen = '127.0.0.1:1'\nlog_level = 'warn'\ndev = true\n";
        let flags = ["--listen", "127.0.0.1:2", "--log-level=debug", "--dev=false"];
        let settings = settle(&[&flags[..], &["--requests-per-second=0"]].concat(), file);
        assert_eq!(settings.requests_per_second, None);
        assert_eq!(settings.listen.port(), 2);
        assert_eq!(settings.log_level, "debug");
        assert!(!settings.dev);
        assert!(settle(&["--dev"], "dev = false\n").dev);
    }

    #[test]
    fn models_have_a_table_of_their_own_in_the_file() {
        let file = "dev = true\n[models]\nembedder = 'dir'\nmodels_timeout_ms = 5\n";
        let settings = settle(&["--embedder", "http://host/v1"], file);
        assert_eq!(settings.models.embedder.as_deref(), Some("http://host/v1"));
        assert_eq!(settings.models.models_timeout_ms, Some(5));
        let wrong = parse_file(Path::new("q.toml"), "[models]\nembeder = 'x'\n").unwrap_err();
        assert!(wrong.to_string().contains("line 2: unknown key `embeder`"), "{wrong}");
    }

    #[test]
    fn every_flag_has_its_variable() {
        use clap::CommandFactory;
        let command = Line::command();
        for argument in command.get_arguments().filter(|argument| argument.get_id() != "help") {
            let variable = argument.get_env().and_then(|name| name.to_str()).unwrap();
            let expected = format!("QUIPU_{}", argument.get_id().as_str().to_uppercase());
            assert_eq!(variable, expected);
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let failure = parse_file(Path::new("q.toml"), "dev = true\n\nlisen = 'x'\n").unwrap_err();
        let text = failure.to_string();
        assert!(text.starts_with("quipu: q.toml line 3: unknown key `lisen`"), "{text}");
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_named_with_its_line() {
        let text = parse_file(Path::new("q.toml"), "dev = true\nmax_log_bytes = 'big'\n")
            .unwrap_err()
            .to_string();
        assert!(text.starts_with("quipu: q.toml line 2: "), "{text}");
    }

    #[test]
    fn half_of_a_tls_pair_is_refused() {
        let settled = Settings::settle(args(&["--tls-cert", "c"]), FileOptions::default());
        assert!(settled.unwrap_err().to_string().contains("--tls-key"));
    }

    #[test]
    fn a_config_file_that_was_named_must_be_there() {
        let missing = ServeArgs { config: Some("no/such.toml".into()), ..ServeArgs::default() };
        let text = Settings::load(missing).unwrap_err().to_string();
        assert!(text.contains("no/such.toml"), "{text}");
    }
}
