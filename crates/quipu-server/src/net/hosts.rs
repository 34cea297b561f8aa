//! Which hosts and origins a request may name. A page in a browser that has its own name lead to this machine, or that
//! asks this machine from another site, must not reach a server that trusts whoever is on it.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, Method, Uri, header};

/// What browsers say of where a request comes from; no page can set or remove it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The names under which a server without keys answers: those of this machine's loopback, and what the operator says is
/// its address. On loopback the port may be another one, of a forward or a proxy on the same machine: no page chooses what
/// a browser says in `Host`, but by its own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnNames {
    port: u16,
    public: Option<HostAndPort>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct HostAndPort {
    host: String,
    port: Option<u16>,
}

impl OwnNames {
    /// Those of a server that listens there. `public_url` is where callers reach it, if the operator says so.
    pub(crate) fn new(listens: SocketAddr, public_url: Option<&str>) -> Self {
        Self { port: listens.port(), public: public_url.and_then(HostAndPort::of_url) }
    }

    /// Whether a request may be answered: it is for one of our names, and no page of another site sends it.
    pub(crate) fn allow(&self, method: &Method, headers: &HeaderMap, uri: &Uri) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, second) = (hosts.next(), hosts.next());
        let host = host.and_then(|value| value.to_str().ok()).and_then(HostAndPort::of_authority);
        let named = uri.authority().map(|named| HostAndPort::of_authority(named.as_str()));
        let is_ours = |place: &HostAndPort| self.is_ours(place);
        second.is_none()
            && host.as_ref().is_some_and(is_ours)
            && named.is_none_or(|named| named.as_ref().is_some_and(is_ours))
            && headers.get_all(header::ORIGIN).iter().all(|origin| {
                let page = origin.to_str().ok().and_then(HostAndPort::of_url);
                page.is_some_and(|page| self.is_own_page(&page, host.as_ref()))
            })
            && !is_from_another_site(method, headers)
    }

    fn is_ours(&self, place: &HostAndPort) -> bool {
        is_loopback(&place.host) || self.is_public(place)
    }

    /// Whether a page comes from here: from our own port, or from the one that the request itself is sent to. Another port
    /// of this machine is another site.
    fn is_own_page(&self, page: &HostAndPort, host: Option<&HostAndPort>) -> bool {
        let sent_to = host.and_then(|host| host.port);
        let same_port = page.port == Some(self.port) || page.port == sent_to;
        (is_loopback(&page.host) && same_port) || self.is_public(page)
    }

    /// A port that is not named is no other one.
    fn is_public(&self, place: &HostAndPort) -> bool {
        self.public.as_ref().is_some_and(|public| {
            let same_port = place.port.is_none_or(|port| Some(port) == public.port);
            place.host == public.host && same_port
        })
    }
}

impl HostAndPort {
    /// What `Host` names; nothing where it is no host.
    fn of_authority(text: &str) -> Option<Self> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(inner) => inner.split_once(']')?,
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let port = match rest.strip_prefix(':') {
            Some("") => None,
            Some(digits) => Some(digits.parse().ok()?),
            None if rest.is_empty() => None,
            None => return None,
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
        (!host.is_empty() && host.bytes().all(is_plain)).then_some(Self { host, port })
    }

    /// The same of a URL or an origin, whose scheme has a port of its own. `null` names nothing.
    fn of_url(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let usual = match scheme.to_ascii_lowercase().as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let place = Self::of_authority(rest.split(['/', '?', '#']).next()?)?;
        Some(Self { port: Some(place.port.unwrap_or(usual)), ..place })
    }
}

/// Whether a browser says that a page of another site asks, other than by a link that somebody followed: what a page
/// only shows or loads has no origin, and what it shows in a frame was followed by nobody.
fn is_from_another_site(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: &HeaderName, word: &str| {
        headers.get(name).is_some_and(|value| value.as_bytes() == word.as_bytes())
    };
    let foreign = says(&FETCH_SITE, "cross-site") || says(&FETCH_SITE, "same-site");
    let is_framed = headers.contains_key(FETCH_DEST) && !says(&FETCH_DEST, "document");
    let is_link = *method == Method::GET && says(&FETCH_MODE, "navigate") && !is_framed;
    foreign && !is_link
}

/// Whether a request to `/mcp` may be answered by a server that asks for keys.
///
/// `public_url` is where callers reach us. A server on loopback knows the names that it can be called
/// by; another one is reached by names that it cannot know, and always asks for a key.
pub(crate) fn are_allowed(headers: &HeaderMap, uri: &Uri, public_url: &str) -> bool {
    let public = host_of(public_url);
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let host = host.or_else(|| uri.authority().map(ToString::to_string)).map(|host| host_of(&host));
    let is_local = is_loopback(&public);
    let host_is_ours = match &host {
        Some(host) => !is_local || is_loopback(host) || *host == public,
        // HTTP/1.1 has it always; a call from within the program has none.
        None => true,
    };
    let origin = headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or("null"));
    let origin_is_ours = origin.is_none_or(|origin| {
        let origin = host_of(origin);
        is_loopback(&origin) || origin == public || (!is_local && host.as_ref() == Some(&origin))
    });
    host_is_ours && origin_is_ours
}

/// The host in a URL or an authority, without its port.
fn host_of(text: &str) -> String {
    let authority = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>().map(|address| address.to_canonical());
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn check(host: &str, origin: Option<&'static str>, public_url: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        are_allowed(&headers, &Uri::from_static("/mcp"), public_url)
    }

    /// Whether a server without keys on port 7070 answers to these headers.
    fn answers(lines: &[(&str, &str)]) -> bool {
        answers_at(lines, &Method::POST, "/v1/record", None)
    }

    fn answers_at(
        lines: &[(&str, &str)],
        method: &Method,
        uri: &str,
        public_url: Option<&str>,
    ) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        let names = OwnNames::new(SocketAddr::from(([127, 0, 0, 1], 7070)), public_url);
        names.allow(method, &headers, &uri.parse().unwrap())
    }

    #[test]
    fn without_keys_a_server_answers_to_its_own_names_alone() {
        for host in [
            "127.0.0.1:7070",
            "localhost:7070",
            "LocalHost.:7070",
            "localhost",
            "localhost:8080",
            "[::1]:7070",
            "127.9.9.9:7070",
            "[::ffff:127.0.0.1]:7070",
        ] {
            assert!(answers(&[("host", host)]), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:7070",
            "127.0.0.1.evil.example:7070",
            "localhost.evil.example:7070",
            "evil.example@localhost:7070",
            "localhost:7070@evil.example",
            "0.0.0.0:7070",
            "[::]:7070",
            "[::1].evil.example:7070",
            "192.168.0.7:7070",
            "localhost:70700",
            "localhost..:7070",
            "",
            ":7070",
        ] {
            assert!(!answers(&[("host", host)]), "{host}");
        }
        assert!(!answers(&[]), "no host at all");
        assert!(!answers(&[("host", "localhost:7070"), ("host", "evil.example")]), "two of them");
        let host = [("host", "localhost:7070")];
        let named = "http://evil.example:7070/v1/record";
        assert!(!answers_at(&host, &Method::POST, named, None), "another one in the address");
        let named = "http://127.0.0.1:7070/v1/record";
        assert!(answers_at(&host, &Method::POST, named, None));
    }

    #[test]
    fn without_keys_no_page_of_another_site_is_answered() {
        let from = |origin| answers(&[("host", "localhost:7070"), ("origin", origin)]);
        let forwarded = [("host", "localhost:8080"), ("origin", "http://localhost:8080")];
        assert!(answers(&forwarded), "a forward of another port of this machine");
        for origin in ["http://localhost:7070", "http://127.0.0.1:7070", "http://[::1]:7070"] {
            assert!(from(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "http://evil.example:7070",
            "http://localhost",
            "http://localhost:3000",
            "https://localhost",
            "file://localhost:7070",
            "http://localhost:7070.evil.example",
            "http://localhost:7070@evil.example",
        ] {
            assert!(!from(origin), "{origin}");
        }
    }

    #[test]
    fn without_keys_a_browser_that_names_another_site_is_believed_but_links_may_be_followed() {
        let from = |method: &Method, site, mode| {
            let lines =
                [("host", "localhost:7070"), ("sec-fetch-site", site), ("sec-fetch-mode", mode)];
            answers_at(&lines, method, "/v1/units", None)
        };
        for site in ["same-origin", "none"] {
            assert!(from(&Method::GET, site, "cors"), "{site}");
        }
        for site in ["cross-site", "same-site"] {
            assert!(!from(&Method::GET, site, "no-cors"), "{site}");
            assert!(!from(&Method::POST, site, "navigate"), "{site}");
            assert!(from(&Method::GET, site, "navigate"), "{site}");
            for (shown_as, is_answered) in
                [("document", true), ("iframe", false), ("object", false)]
            {
                let lines = [
                    ("host", "localhost:7070"),
                    ("sec-fetch-site", site),
                    ("sec-fetch-mode", "navigate"),
                    ("sec-fetch-dest", shown_as),
                ];
                let answered = answers_at(&lines, &Method::GET, "/v1/units", None);
                assert_eq!(answered, is_answered, "{site} {shown_as}");
            }
        }
    }

    #[test]
    fn without_keys_the_address_that_the_operator_names_is_one_of_ours() {
        let public = Some("https://quipu.test/memory");
        let ask = |lines: &[(&str, &str)]| answers_at(lines, &Method::GET, "/", public);
        assert!(ask(&[("host", "quipu.test"), ("origin", "https://quipu.test")]));
        assert!(ask(&[("host", "localhost:7070")]));
        assert!(!ask(&[("host", "quipu.test:7070")]));
        assert!(!ask(&[("host", "quipu.test"), ("origin", "http://quipu.test")]));
    }

    #[test]
    fn a_server_on_loopback_answers_to_its_own_names_alone() {
        let ours = "http://127.0.0.1:7070";
        for host in ["127.0.0.1:7070", "localhost:7070", "LOCALHOST.", "[::1]:7070", "127.9.9.9"] {
            assert!(check(host, None, ours), "{host}");
        }
        for host in ["evil.example:7070", "127.0.0.1.evil.example", "localhost.evil.example", ""] {
            assert!(!check(host, None, ours), "{host}");
        }
    }

    #[test]
    fn a_page_from_elsewhere_is_turned_away() {
        let ours = "http://127.0.0.1:7070";
        assert!(check("localhost:7070", Some("http://localhost:6274"), ours));
        for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
            assert!(!check("localhost:7070", Some(origin), ours), "{origin}");
        }
    }

    #[test]
    fn a_server_for_others_answers_to_any_name_but_only_to_its_own_pages() {
        let ours = "http://0.0.0.0:7070";
        assert!(check("quipu.example", None, ours));
        assert!(check("quipu.example", Some("https://quipu.example"), ours));
        assert!(!check("quipu.example", Some("https://evil.example"), ours));
        let named = "https://quipu.example";
        assert!(check("10.0.0.7:7070", Some("https://quipu.example"), named));
    }
}
