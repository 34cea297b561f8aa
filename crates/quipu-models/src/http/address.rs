//! The URL of an endpoint: the part before `/embeddings` or `/chat/completions`.

use hyper::Uri;

/// A URL that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the address of a model endpoint: {reason}")]
pub struct AddressError {
    /// What is wrong. The address itself is not repeated: it may hold a password.
    pub reason: &'static str,
}

/// The address of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whether it speaks TLS.
    pub secure: bool,
    /// Its host, without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Host and port as they are sent.
    pub authority: String,
    /// What comes before the operation's own path, without a slash at its end.
    pub base: String,
}

impl Address {
    /// Reads an address such as `http://localhost:11434/v1`.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        let refuse = |reason| AddressError { reason };
        let uri: Uri = url.parse().map_err(|_| refuse("it cannot be read"))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) | None => return Err(refuse("it must begin with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it names no host"))?.as_str();
        if authority.contains('@') {
            return Err(refuse("it holds a name or a password; give the key apart from it"));
        }
        if uri.query().is_some() {
            return Err(refuse("it has a query"));
        }
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        if host.is_empty() {
            return Err(refuse("it names no host"));
        }
        Ok(Self {
            secure,
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            authority: authority.to_owned(),
            base: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.base)
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
            assert_eq!((address.secure, address.host.as_str()), (secure, host));
            assert_eq!((address.port, address.base.as_str()), (port, base));
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
