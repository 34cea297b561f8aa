//! What a server reads again on SIGHUP: its keys, the files of its certificate, and the level of its log lines. All
//! else stays as it was at the start. What cannot be read is left as it is, and said.

use std::sync::Arc;

use quipu_server::{KeyStore, TlsReload};
use tokio::sync::mpsc;

use crate::{
    args::config::{ServeArgs, Settings},
    ui::logging::LevelChange,
};

/// What can be read again.
pub(crate) struct Reload {
    /// The command line, by which the config file is read again.
    pub(crate) args: ServeArgs,
    pub(crate) keys: Arc<KeyStore>,
    pub(crate) tls: Option<TlsReload>,
    pub(crate) level: LevelChange,
}

impl Reload {
    /// Reads again whenever it is report to, for ever.
    pub(crate) async fn run(self, mut hangups: mpsc::Receiver<()>) {
        while hangups.recv().await.is_some() {
            self.read_again();
        }
    }

    fn read_again(&self) {
        let settings = match Settings::load(self.args.clone()) {
            Ok(settings) => settings,
            Err(failure) => {
                tracing::error!(%failure, "SIGHUP: the settings stay as they are");
                return;
            }
        };
        let mut report = ReloadReport::default();
        let level = (self.level)(&settings.log_level).map_err(|failure| failure.to_string());
        report.note("the log level", level);
        let keys = self.keys.read_again().map_err(|error| quipu_field::with_causes(&error));
        report.note("the keys", keys);
        if let Some((tls, files)) = self.tls.as_ref().zip(settings.tls.as_ref()) {
            let read = tls.read_again(files).map_err(|error| quipu_field::with_causes(&error));
            report.note("the certificate", read);
        }
        report.say(&settings.log_level);
    }
}

/// What was read again and what was not.
#[derive(Default)]
struct ReloadReport {
    read: Vec<&'static str>,
    unread: Vec<&'static str>,
}

impl ReloadReport {
    fn note(&mut self, what: &'static str, read: Result<(), String>) {
        match read {
            Ok(()) => self.read.push(what),
            Err(error) => {
                tracing::error!(error, "SIGHUP: {what} could not be read");
                self.unread.push(what);
            }
        }
    }

    fn say(&self, level: &str) {
        let read = self.read.join(", ");
        if self.unread.is_empty() {
            tracing::info!(level, "SIGHUP: read again: {read}");
            return;
        }
        let unread = self.unread.join(", ");
        let read = if read.is_empty() { "nothing" } else { &read };
        tracing::warn!(
            "SIGHUP: read again: {read}; as before, because it could not be read: {unread}"
        );
    }
}
