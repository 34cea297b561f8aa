//! The address of the servers: `nats://user:password@host:4222,host:4222?monitor=http://host:8222,http://host:8222`.

use std::path::PathBuf;

use async_nats::{ConnectOptions, ServerAddr};

use crate::open_error::OpenError;

#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) servers: Vec<ServerAddr>,
    /// The monitoring endpoint of each server, at which it states its configuration: `host:port`.
    pub(super) monitors: Vec<String>,
    token: Option<String>,
    roots: Option<PathBuf>,
    encrypted: bool,
    /// The address without credentials, for messages.
    pub(super) display: String,
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        let refuse = |reason: String| OpenError::Address { reason };
        let (base, options) = url.split_once('?').unwrap_or((url, ""));
        let (scheme, hosts) =
            base.split_once("://").ok_or_else(|| refuse("it has no ://".into()))?;
        let (credentials, hosts) = match hosts.rsplit_once('@') {
            Some((credentials, hosts)) => (format!("{credentials}@"), hosts),
            None => (String::new(), hosts),
        };
        let hosts = hosts.trim_end_matches('/');
        let mut servers = Vec::new();
        for host in hosts.split(',') {
            let server = format!("{scheme}://{credentials}{host}").parse::<ServerAddr>();
            servers.push(server.map_err(|_| refuse(format!("{host:?} is not a host and port")))?);
        }
        let display = format!("{scheme}://{hosts}");
        let mut address = Self {
            servers,
            monitors: Vec::new(),
            token: None,
            roots: None,
            encrypted: scheme == "tls",
            display,
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("monitor", urls)) => address.monitors = monitors(urls)?,
                Some(("token", token)) => address.token = Some(token.to_owned()),
                Some(("tlsca", file)) => address.roots = Some(file.into()),
                _ => {
                    let name = option.split('=').next().unwrap_or_default();
                    return Err(refuse(format!("{name:?} is none of monitor, token, tlsca")));
                }
            }
        }
        Ok(address)
    }

    pub(super) fn options(&self) -> ConnectOptions {
        let mut options = ConnectOptions::new().name("quipu").require_tls(self.encrypted);
        if let Some(token) = &self.token {
            options = options.token(token.clone());
        }
        if let Some(roots) = &self.roots {
            options = options.add_root_certificates(roots.clone());
        }
        options
    }
}

fn monitors(urls: &str) -> Result<Vec<String>, OpenError> {
    let host = |url: &str| {
        let host = url.strip_prefix("http://").map(|host| host.trim_end_matches('/').to_owned());
        host.filter(|host| host.contains(':')).ok_or_else(|| OpenError::Address {
            reason: format!("monitor {url:?} is not of the form http://host:port"),
        })
    };
    urls.split(',').map(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_several_servers_and_shows_no_credentials() {
        let url = "nats://me:secret@a:4222,b:4223?monitor=http://a:8222,http://b:8222/";
        let address = Address::parse(url).unwrap();
        assert_eq!(address.display, "nats://a:4222,b:4223");
        assert_eq!(address.monitors, ["a:8222", "b:8222"]);
        let users: Vec<_> = address.servers.iter().map(ServerAddr::username).collect();
        assert_eq!(users, [Some("me"), Some("me")]);
    }

    #[test]
    fn refuses_what_it_does_not_know_without_showing_the_password() {
        for wrong in ["?colour=red", "?monitor=a", "?monitor=https://a:1"] {
            let text = Address::parse(&format!("nats://me:secret@a:4222{wrong}")).unwrap_err();
            assert!(!text.to_string().contains("secret"), "{text}");
        }
    }
}
