//! The URL of an endpoint: the part before `/embeddings` or `/chat/completions`.

use quipu_http::ServerAddress;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the address of a model endpoint: {reason}")]
pub struct AddressError {
    /// What is wrong. The address itself is not repeated: it may hold a password.
    pub reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub server: ServerAddress,
    /// What comes before the operation's own path, without a slash at its end.
    pub base: String,
}

impl Address {
    /// Reads an address such as `http://localhost:11434/v1`.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        let refuse = |reason| AddressError { reason };
        let (server, uri) = ServerAddress::parse(url).map_err(|error| refuse(error.reason))?;
        if server.authority.contains('@') {
            return Err(refuse("it holds a name or a password; give the key apart from it"));
        }
        if uri.query().is_some() {
            return Err(refuse("it has a query"));
        }
        Ok(Self { server, base: uri.path().trim_end_matches('/').to_owned() })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.server.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.server.authority, self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_addresses_with_and_without_port_and_path() {
        for (url, secure, host, port, base) in [
            ("http://localhost:11434/v1", false, "localhost", 11434, "/v1"),
            ("https://models.example/openai/v1/", true, "models.example", 443, "/openai/v1"),
            ("http://[::1]:80", false, "::1", 80, ""),
        ] {
            let address = Address::parse(url).unwrap();
            let server = &address.server;
            assert_eq!((server.secure, server.host.as_str()), (secure, host));
            assert_eq!((server.port, address.base.as_str()), (port, base));
        }
    }

    #[test]
    fn refuses_the_rest_without_repeating_it() {
        for (url, reason) in [
            ("localhost:11434", "begin with"),
            ("ftp://host/v1", "begin with"),
            ("http://me:secret@host/v1", "password"),
            ("http://host/v1?key=secret", "query"),
            ("", "cannot be read"),
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("secret"), "{error}");
        }
    }
}
