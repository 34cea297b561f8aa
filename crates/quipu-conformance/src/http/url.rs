//! Parses `http://` URLs: host, port and a path in front of every route.

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    /// `host:port`, as it goes into `Host` and to the socket.
    pub(crate) authority: String,
    /// What stands before each route; empty or `/…` without a slash at the end.
    pub(crate) prefix: String,
}

impl BaseUrl {
    /// Reads `http://host[:port][/path]`.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let after_address = authority.rsplit(']').next().unwrap_or(authority);
        let port = match after_address.split_once(':') {
            Some((_, port)) => port.parse::<u16>().ok()?.to_string(),
            None => "80".to_owned(),
        };
        let host = match after_address.find(':') {
            Some(_) => authority.rsplit_once(':')?.0,
            None => authority,
        };
        if host.is_empty() || host.contains(['@', ' ', '?', '#']) || path.contains(['?', '#', ' '])
        {
            return None;
        }
        let prefix = path.trim_end_matches('/').to_owned();
        Some(Self { authority: format!("{host}:{port}"), prefix })
    }

    /// The server and path of `link`, which is a full URL or a path on this server.
    pub(crate) fn follow(&self, link: &str) -> Option<(Self, String)> {
        if link.starts_with('/') {
            return Some((
                Self { authority: self.authority.clone(), prefix: String::new() },
                link.to_owned(),
            ));
        }
        let rest = link.strip_prefix("http://")?;
        let at = rest.find('/').unwrap_or(rest.len());
        let base = Self::parse(&link[..link.len() - rest.len() + at])?;
        Some((base, if at == rest.len() { "/".to_owned() } else { rest[at..].to_owned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Option<(String, String)> {
        BaseUrl::parse(url).map(|base| (base.authority, base.prefix))
    }

    #[test]
    fn reads_host_port_and_prefix() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(parsed("http://localhost"), pair("localhost:80", ""));
        assert_eq!(parsed("http://[::1]:7070/"), pair("[::1]:7070", ""));
        assert_eq!(parsed("http://[::1]"), pair("[::1]:80", ""));
        assert_eq!(parsed("http://a.example:8080/field/"), pair("a.example:8080", "/field"));
        assert_eq!(parsed("http://"), None);
        assert_eq!(parsed("http://a:port"), None);
        assert_eq!(parsed("a:80"), None);
    }

    #[test]
    fn follows_paths_and_whole_addresses() {
        let base = BaseUrl::parse("http://a:1/p").unwrap();
        let (here, path) = base.follow("/v1/push/s?x=1").unwrap();
        assert_eq!((here.authority.as_str(), path.as_str()), ("a:1", "/v1/push/s?x=1"));
        let (there, path) = base.follow("http://b:2/q?y=2").unwrap();
        assert_eq!((there.authority.as_str(), path.as_str()), ("b:2", "/q?y=2"));
        assert_eq!(base.follow("ftp://b/"), None);
    }
}
