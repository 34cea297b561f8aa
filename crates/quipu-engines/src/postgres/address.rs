//! The address of a database: what the client library reads, and the TLS options that it leaves to us.

use std::{path::PathBuf, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use crate::open_error::OpenError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection that is silent for this long counts as lost.
const SILENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) trust: Trust,
    /// Host, port and database without credentials, for messages.
    pub(super) display: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Any certificate: `sslmode` is `prefer` or `require`, as with PostgreSQL's own tools.
    Anybody,
    /// A certificate for the server's name, issued by the system's authorities or by those in this file.
    Certified(Option<PathBuf>),
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?sslmode=…&sslrootcert=…`.
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        let (base, options) = url.split_once('?').unwrap_or((url, ""));
        let mut mode = SslMode::Prefer;
        let mut certified = false;
        let mut roots = None;
        let mut rest = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", "disable")) => mode = SslMode::Disable,
                Some(("sslmode", "prefer")) => mode = SslMode::Prefer,
                Some(("sslmode", "require")) => mode = SslMode::Require,
                Some(("sslmode", "verify-ca" | "verify-full")) => {
                    mode = SslMode::Require;
                    certified = true;
                }
                Some(("sslmode", other)) => {
                    return Err(refuse(format!(
                        "sslmode {other:?} is none of disable, prefer, require, verify-ca, verify-full"
                    )));
                }
                Some(("sslrootcert", file)) => roots = Some(PathBuf::from(file)),
                _ => rest.push(option),
            }
        }
        let rest = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        let mut config: Config =
            format!("{base}{rest}").parse().map_err(|e: tokio_postgres::Error| {
                // The library's error names what is wrong and never the value of a password.
                refuse(
                    std::error::Error::source(&e)
                        .map_or_else(|| e.to_string(), ToString::to_string),
                )
            })?;
        if config.get_hosts().is_empty() {
            return Err(refuse("it names no host".to_owned()));
        }
        config.ssl_mode(mode).keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("quipu");
        }
        let display = display_text(&config);
        // If authorities are named, certificates are checked against them.
        let trust = if certified || (roots.is_some() && mode == SslMode::Require) {
            Trust::Certified(roots)
        } else {
            Trust::Anybody
        };
        Ok(Self { config, trust, display })
    }
}

fn refuse(reason: String) -> OpenError {
    OpenError::Address { reason }
}

fn display_text(config: &Config) -> String {
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(at, host)| {
            let ports = config.get_ports();
            let port = ports.get(at).or_else(|| ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                #[cfg(unix)]
                Host::Unix(path) => format!("{}:{port}", path.display()),
            }
        })
        .collect();
    format!("postgres://{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(options: &str) -> Address {
        Address::parse(&format!("postgres://me:secret@db.example:6432/quipu{options}")).unwrap()
    }

    #[test]
    fn shows_everything_but_the_credentials() {
        assert_eq!(parsed("").display, "postgres://db.example:6432/quipu");
    }

    #[test]
    fn reads_what_the_databases_own_tools_read() {
        assert_eq!(parsed("").config.get_ssl_mode(), SslMode::Prefer);
        assert_eq!(parsed("?sslmode=disable").config.get_ssl_mode(), SslMode::Disable);
        assert_eq!(parsed("?sslmode=require").trust, Trust::Anybody);
        let full = parsed("?application_name=x&sslmode=verify-full&sslrootcert=ca.pem");
        assert_eq!(full.trust, Trust::Certified(Some("ca.pem".into())));
        assert_eq!(full.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(full.config.get_application_name(), Some("x"));
    }

    #[test]
    fn refuses_what_it_does_not_know_without_showing_the_password() {
        for wrong in ["?sslmode=maybe", "?colour=red"] {
            let error = Address::parse(&format!("postgres://me:secret@db/quipu{wrong}"));
            let text = error.unwrap_err().to_string();
            assert!(text.contains("cannot be used") && !text.contains("secret"), "{text}");
        }
        assert!(Address::parse("postgres:///quipu").is_err());
    }
}
