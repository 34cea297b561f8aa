//! What the opening request of a WebSocket may say among its subprotocols: a page in a browser can set no
//! other header. `bearer.TOKEN` is a credential, and the name of a version is a version.

use axum::http::{HeaderMap, header};
use quipu_wire::harn::{HarnError, HarnErrorCode, HarnVersion};

const BEARER: &str = "bearer.";

/// The credential among the subprotocols.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    offered(headers).find_map(|word| word.strip_prefix(BEARER))
}

/// The version of an opening request that has no header for it: one of the subprotocols, or the usual one.
pub(super) fn version(headers: &HeaderMap) -> Option<HarnVersion> {
    is_upgrade(headers)
        .then(|| offered(headers).find_map(HarnVersion::parse).unwrap_or(HarnVersion::DEFAULT))
}

/// The subprotocol that is agreed on: a version where one is offered, or else the first. A browser hangs up
/// where it offers some and none is chosen, and a credential is never said back: beside one there must be a
/// version.
pub(super) fn chosen(headers: &HeaderMap) -> Result<Option<String>, HarnError> {
    let version = offered(headers).find(|word| HarnVersion::parse(word).is_some());
    if version.is_none() && bearer(headers).is_some() {
        let header = "Sec-WebSocket-Protocol";
        let message = format!("{header}: beside {BEARER}KEY there must be the name of a version");
        return Err(HarnError::new(HarnErrorCode::InvalidRequest, message).at(header));
    }
    Ok(version.or_else(|| offered(headers).next()).map(str::to_owned))
}

fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = is_upgrade(headers).then(|| headers.get_all(header::SEC_WEBSOCKET_PROTOCOL));
    let texts = lines.into_iter().flatten().filter_map(|line| line.to_str().ok());
    texts.flat_map(|line| line.split(',').map(str::trim))
}

/// Whether a request wants to become a WebSocket.
pub(super) fn is_upgrade(headers: &HeaderMap) -> bool {
    let value = headers.get(header::UPGRADE).and_then(|value| value.to_str().ok());
    value.is_some_and(|word| word.eq_ignore_ascii_case("websocket"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn opening(upgrade: &'static str, offered: &'static str) -> HeaderMap {
        HeaderMap::from_iter([
            (header::UPGRADE, HeaderValue::from_static(upgrade)),
            (header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(offered)),
        ])
    }

    #[test]
    fn a_browser_says_its_key_and_its_version_among_the_subprotocols() {
        let headers = opening("WebSocket", "chat, bearer.quipu_a.b, agents-protocol-2026-10-11");
        assert_eq!(bearer(&headers), Some("quipu_a.b"));
        assert_eq!(version(&headers), Some(HarnVersion::V20261011));
        assert_eq!(version(&opening("websocket", "chat")), Some(HarnVersion::DEFAULT));
    }

    #[test]
    fn a_key_is_never_said_back() {
        for only in ["bearer.k", "bearer.k, chat", "chat, bearer.k"] {
            let refused = chosen(&opening("websocket", only)).unwrap_err();
            assert!(!refused.message.contains("bearer.k"), "{refused:?}");
        }
        let version = "agents-protocol-2026-10-11";
        let both = opening("websocket", "bearer.k, agents-protocol-2026-10-11");
        assert_eq!(chosen(&both).unwrap().as_deref(), Some(version));
        assert_eq!(chosen(&opening("websocket", "chat")).unwrap().as_deref(), Some("chat"));
    }

    #[test]
    fn a_request_that_opens_no_websocket_says_nothing_there() {
        let headers = opening("h2c", "bearer.k, agents-protocol-2026-10-11");
        assert_eq!((bearer(&headers), version(&headers)), (None, None));
    }
}
