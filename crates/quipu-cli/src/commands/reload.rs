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
    /// Reads again whenever it is told to, for ever.
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
        if let Err(failure) = (self.level)(&settings.log_level) {
            tracing::error!(%failure, "SIGHUP: the level of the log stays as it is");
        }
        if let Err(error) = self.keys.read_again() {
            let error = quipu_field::with_causes(&error);
            tracing::error!(error, "SIGHUP: the keys stay as they are");
        }
        if let Some((tls, files)) = self.tls.as_ref().zip(settings.tls.as_ref())
            && let Err(error) = tls.read_again(files)
        {
            let error = quipu_field::with_causes(&error);
            tracing::error!(error, "SIGHUP: the certificate stays as it is");
        }
        tracing::info!(
            level = settings.log_level,
            "SIGHUP: read keys, certificate and log level again"
        );
    }
}
