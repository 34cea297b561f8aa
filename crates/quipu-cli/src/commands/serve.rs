//! `quipu serve`: puts engine, fields, keys and server together, and runs until a signal comes.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use quipu_field::{DetectionOptions, FieldOptions, Fields, Keeping, RankingOptions, SystemOrigin};
use quipu_log::{Engine, MemoryEngine, SqliteEngine, SqliteOptions};
use quipu_server::{
    BindError, HarnSetupError, KeyStore, LogMeter, Options, SecretsError, Server,
    secrets::keys::{IssuedKey, KeyAgent, NewKey},
};
use quipu_wire::akashik::Tokenizer;

use super::{
    import::remove_leftovers,
    key::key_failure,
    reload::Reload,
    serve_models::{judge, models, variable},
};
use crate::{
    args::config::{ServeArgs, Settings, TokenizerName},
    signals::Signals,
    storage::{data_dir, log_address::LogAddress},
    ui::{failure::Failure, logging, output, progress},
};

/// How long open requests may go on after a signal. What comes behind them must end in time too.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(6);
/// How many file handles an open Field takes while a few read from it.
const HANDLES_OF_A_FIELD: u64 = 8;
/// The authority of the key that the first start makes.
const OPERATOR: u8 = 10;

pub(crate) async fn serve(args: ServeArgs, settings: Settings) -> Result<(), Failure> {
    let level = logging::start(settings.log_format, &settings.log_level)?;
    if let Some(file) = &settings.file {
        tracing::info!(file = %file.display(), "read the config file");
    }
    let handles = quipu_server::raise_file_handles();
    warn_of_plain_text(&settings);
    let (stop, hangups) = Signals::listen()?.split();
    // Held until the end: the log on a server does not keep two nodes out of one directory.
    let _directory = match settings.log {
        LogAddress::Postgres(_) | LogAddress::Nats(_) => Some(data_dir::claim(&settings.data)?),
        LogAddress::Sqlite | LogAddress::Memory => None,
    };
    let (fields, engine) = open_fields(&settings, handles)?;
    let keys = KeyStore::beside(engine, &settings.data).map_err(|error| key_failure(&error))?;
    keys.take_over().map_err(|error| key_failure(&error))?;
    let (fields, keys) = (Arc::new(fields), Arc::new(keys));
    let options = Options {
        listen: settings.listen,
        dev: settings.dev,
        tls: settings.tls.clone(),
        shutdown_grace: SHUTDOWN_GRACE,
        write_timeout: quipu_server::WRITE_TIMEOUT,
        push: quipu_server::PushOptions::default(),
        requests_per_second: settings.requests_per_second,
        harn: settings.harn.options(variable)?,
    };
    let binding = Server::bind(options, fields, Arc::clone(&keys));
    let server = progress::waiting("opening the log", binding)
        .await
        .map_err(|error| bind_failure(&settings, &error))?;
    if settings.dev {
        tracing::warn!("--dev: there is no authentication, every caller has authority 10");
    } else if let Some(issued) = operator_key(&keys)? {
        output::print(&welcome(&issued, &settings, &server))?;
    }
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{}", server.local_addr());
    data_dir::note_address(&settings.data, &address);
    output::print(&format!("quipu listens on {address}\n"))?;
    let reload = Reload { args, keys, tls: server.tls_reload(), level };
    let reloading = tokio::spawn(reload.run(hangups));
    server.run(stop).await;
    reloading.abort();
    data_dir::forget_address(&settings.data);
    tracing::info!("stopped");
    Ok(())
}

/// Keys that travel in plain text are anybody's on the way.
fn warn_of_plain_text(settings: &Settings) {
    let listen = settings.listen;
    if settings.tls.is_none() && !listen.ip().to_canonical().is_loopback() {
        tracing::warn!(
            %listen,
            "KEYS AND TEXTS TRAVEL UNENCRYPTED: this address is reached from other machines and there is no TLS; set \
             --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that speaks TLS"
        );
    }
}

fn ranking(settings: &Settings) -> Result<RankingOptions, Failure> {
    let tokenizer = match settings.tokenizer {
        TokenizerName::O200k => Tokenizer::O200k,
        TokenizerName::Cl100k => Tokenizer::Cl100k,
    };
    RankingOptions::new(&settings.rank_weights, tokenizer)
        .map_err(|error| Failure::new(format!("--rank-weights: {error}")))
}

fn open_fields(settings: &Settings, handles: u64) -> Result<(Fields, Arc<dyn Engine>), Failure> {
    let template = FieldOptions {
        cross_session_visibility: settings.cross_session_visibility,
        replay_events_max: settings.replay_events_max,
        trace_attunes: settings.trace_attunes,
        ranking: ranking(settings)?,
        detection: detection(settings)?,
        models: models(&settings.models)?,
        meter: Arc::new(LogMeter),
        snapshot_commits: settings.fields.snapshot_commits(),
        depot: settings.fields.depot(&settings.log)?,
        ..FieldOptions::new(Arc::new(SystemOrigin))
    };
    let (engine, directory): (Arc<dyn Engine>, _) = match &settings.log {
        LogAddress::Sqlite => {
            let options = SqliteOptions { max_log_bytes: settings.max_log_bytes };
            let engine = SqliteEngine::open(&settings.data, options)
                .map_err(|error| data_dir::open_failure(&error))?;
            remove_leftovers(&settings.data)?;
            (Arc::new(engine), Some(data_dir::fields_dir(&settings.data)))
        }
        LogAddress::Memory => {
            tracing::warn!("the log is in memory: nothing that is recorded survives a restart");
            (Arc::new(MemoryEngine::new()), None)
        }
        LogAddress::Postgres(_) | LogAddress::Nats(_) if settings.max_log_bytes.is_some() => {
            return Err(Failure::new("--max-log-bytes is for the SQLite log alone")
                .advise("limit the size of the log where the server keeps it"));
        }
        server @ (LogAddress::Postgres(_) | LogAddress::Nats(_)) => {
            let engine = server.open_server()?;
            let engine = engine.ok_or_else(|| Failure::new("the log has no server"))?;
            (engine, Some(data_dir::remote_dir(&settings.data)))
        }
    };
    let fields = Fields::with_options(Arc::clone(&engine), template, directory);
    Ok((fields.keeping(keeping(settings, handles)), engine))
}

/// How many Fields stay open: no more than there are handles for, beside those of connections.
fn keeping(settings: &Settings, handles: u64) -> Keeping {
    let keeping = settings.fields.keeping();
    let for_storage = usize::try_from(handles / 2 / HANDLES_OF_A_FIELD).unwrap_or(usize::MAX);
    Keeping { open_max: keeping.open_max.min(for_storage.max(1)), ..keeping }
}

fn detection(settings: &Settings) -> Result<DetectionOptions, Failure> {
    Ok(DetectionOptions {
        judge: judge(&settings.models)?,
        automatic: settings.detect,
        budget_ms: settings.detect_budget_ms,
        scan_units_max: settings.detect_scan_units,
        ..DetectionOptions::built_in(settings.detect_sureness)
    })
}

fn operator_key(keys: &KeyStore) -> Result<Option<IssuedKey>, Failure> {
    if !keys.is_empty() {
        return Ok(None);
    }
    let label = Some("operator, made by the first start".to_owned());
    let (agent, roles) = (KeyAgent::Any, Vec::new());
    let new = NewKey { agent, authority: OPERATOR, field: None, label, roles };
    keys.create_first(new).map_err(|error| key_failure(&error))
}

fn welcome(issued: &IssuedKey, settings: &Settings, server: &Server) -> String {
    let (address, data) = (server.local_addr(), settings.data.display());
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    // The address of a server may hold a password, and is not shown.
    let place = match settings.log {
        LogAddress::Postgres(_) | LogAddress::Nats(_) => "--log URL".to_owned(),
        LogAddress::Sqlite | LogAddress::Memory => format!("--data {data}"),
    };
    format!(
        "There are no keys yet, so here is one for the operator. It is shown only now; keep it:\n\n  \
         {secret}\n\n\
         Try it:\n  \
         export QUIPU_KEY={secret}\n  \
         curl -s {scheme}://{address}/v1/field/status -H \"Authorization: Bearer $QUIPU_KEY\"\n\
         Give each agent a key of its own:\n  \
         quipu key create {place} --agent NAME --authority 4\n\n",
        secret = issued.secret,
    )
}

fn bind_failure(settings: &Settings, error: &BindError) -> Failure {
    let failure = Failure::new(quipu_field::with_causes(error));
    match error {
        BindError::DevNotLoopback { .. } => {
            failure.advise("listen on 127.0.0.1 or [::1], or leave --dev out and use keys")
        }
        BindError::Listen { listen, source } => listen_failure(*listen, source, failure),
        BindError::Tls(_) => {
            failure.advise("check the PEM files named by --tls-cert and --tls-key")
        }
        BindError::Harn(HarnSetupError::KeySet(_)) => failure.advise(
            "check the file named by --oauth-jwks: the public keys of the identity provider, as it publishes them",
        ),
        BindError::Harn(HarnSetupError::Secret(SecretsError::OtherVaultKey)) => failure.advise(
            "set QUIPU_VAULT_KEY to the same value on every node, or copy vault.key from a node that runs",
        ),
        BindError::Harn(HarnSetupError::Secret(SecretsError::Storage(_))) => {
            failure.advise("check that the server of the log runs and that this node may write to it")
        }
        BindError::Harn(HarnSetupError::Secret(_)) => failure
            .advise("give the server's user the right to read and write it; do not make it anew, or old receipts lose their signer"),
        BindError::Field { field, source } if settings.log == LogAddress::Sqlite => {
            data_dir::field_failure(&settings.data, field, source)
        }
        BindError::Field { .. } => failure.advise("`quipu verify --log URL` says what is wrong with the log"),
    }
}

fn listen_failure(listen: SocketAddr, source: &io::Error, failure: Failure) -> Failure {
    let kind = source.kind();
    if kind == io::ErrorKind::AddrInUse {
        Failure::new(format!("cannot listen on {listen}: another process does already"))
            .advise("stop it, or choose another port with --listen; port 0 takes a free one")
    } else if kind == io::ErrorKind::PermissionDenied {
        failure.advise("ports below 1024 need a privilege: choose a higher one with --listen")
    } else {
        failure.advise("choose an address of this machine with --listen")
    }
}
