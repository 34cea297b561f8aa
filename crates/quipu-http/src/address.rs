//! Where a server is: a URL taken apart.

use hyper::Uri;

/// A URL that is none of an HTTP server. The URL itself is not repeated: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct AddressError {
    pub reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    /// Whether it speaks TLS.
    pub secure: bool,
    /// Its host, without brackets.
    pub host: String,
    pub port: u16,
    /// Host and port as they are sent.
    pub authority: String,
}

impl ServerAddress {
    /// Reads a URL; what comes behind the server's address is for the caller.
    pub fn parse(url: &str) -> Result<(Self, Uri), AddressError> {
        let uri: Uri = url.parse().map_err(|_| AddressError { reason: "it cannot be read" })?;
        Ok((Self::of(&uri)?, uri))
    }

    pub fn of(uri: &Uri) -> Result<Self, AddressError> {
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) | None => {
                return Err(AddressError { reason: "it must begin with http:// or https://" });
            }
        };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let authority = uri.authority().filter(|_| !host.is_empty());
        let authority = authority.ok_or(AddressError { reason: "it names no host" })?;
        Ok(Self {
            secure,
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_addresses_with_and_without_a_port() {
        for (url, secure, host, port, authority) in [
            ("http://localhost", false, "localhost", 80, "localhost"),
            ("https://models.example/v1", true, "models.example", 443, "models.example"),
            ("http://[::1]:7070/", false, "::1", 7070, "[::1]:7070"),
        ] {
            let (address, _) = ServerAddress::parse(url).unwrap();
            assert_eq!((address.secure, address.host.as_str()), (secure, host));
            assert_eq!((address.port, address.authority.as_str()), (port, authority));
        }
    }

    #[test]
    fn refuses_what_is_no_server() {
        for (url, reason) in
            [("127.0.0.1:7070", "begin with"), ("ftp://host", "begin with"), ("", "cannot be read")]
        {
            let error = ServerAddress::parse(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
