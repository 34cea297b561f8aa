//! Which hosts and origins a request to `/mcp` may name. A page in a browser that has its own name
//! lead to this machine must not reach a server that trusts whoever is on it.

use std::net::IpAddr;

use axum::http::{HeaderMap, Uri, header};

/// Whether a request may be answered.
///
/// `public_url` is where callers reach us. A server on loopback knows the names that it can be called
/// by; another one is reached by names that it cannot know, and always asks for a key.
pub(super) fn are_allowed(headers: &HeaderMap, uri: &Uri, public_url: &str) -> bool {
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
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
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
