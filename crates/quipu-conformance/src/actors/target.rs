//! What is tested: a URL, the keys for it, and the level to test.

use std::time::Duration;

use thiserror::Error;

use crate::{http::BaseUrl, limits::PUSH_WAIT};

/// How the suite reaches the Field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// The HTTP binding: `POST /v1/<operation>` with the full envelope, push by server-sent events.
    #[default]
    Http,
}

/// A key that speaks for one agent alone, with less than full authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundKey {
    /// The agent that the key is bound to.
    pub agent: String,
    /// The authority of the key, 0 to 9.
    pub authority: u8,
    /// The key itself, as it stands after `Bearer`.
    pub key: String,
}

impl BoundKey {
    /// Reads `AGENT:AUTHORITY:KEY`.
    pub fn parse(text: &str) -> Result<Self, BadTarget> {
        let bad = || BadTarget::BoundKey;
        let mut parts = text.splitn(3, ':');
        let (Some(agent), Some(authority), Some(key)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        let authority = authority.parse().ok().filter(|level| *level < 10).ok_or_else(bad)?;
        if agent.is_empty() || key.is_empty() {
            return Err(bad());
        }
        Ok(Self { agent: agent.to_owned(), authority, key: key.to_owned() })
    }
}

/// The credentials of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// A key of authority 10 that may speak for any agent.
    pub operator: String,
    /// A key that is bound to one agent. Without it, the cases about such keys are skipped.
    pub bound: Option<BoundKey>,
}

/// A Field under test.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) base: BaseUrl,
    pub(crate) keys: Option<Keys>,
    pub(crate) level: u8,
    pub(crate) binding: Binding,
    pub(crate) push_wait: Duration,
}

/// Why the description of a target is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadTarget {
    /// The client cannot use the URL.
    #[error(
        "the URL {url:?} is not of the form http://host[:port][/path]; the suite speaks no TLS"
    )]
    Url { url: String },
    /// The protocol has no such level.
    #[error("level {level} is not one of 0, 1, 2 and 3")]
    Level {
        /// What was given.
        level: u8,
    },
    /// A bound key has the wrong form. The text is not repeated, since it contains a secret.
    #[error("a bound key is not of the form AGENT:AUTHORITY:KEY with an authority below 10")]
    BoundKey,
}

impl Target {
    /// The Field at `url`, to be tested up to `level`.
    pub fn new(
        url: &str,
        keys: Option<Keys>,
        level: u8,
        binding: Binding,
    ) -> Result<Self, BadTarget> {
        let base = BaseUrl::parse(url).ok_or_else(|| BadTarget::Url { url: url.to_owned() })?;
        if level > 3 {
            return Err(BadTarget::Level { level });
        }
        Ok(Self { base, keys, level, binding, push_wait: PUSH_WAIT })
    }

    /// The same target with another limit for the arrival of notifications; the default is ten seconds.
    #[must_use]
    pub const fn with_push_wait(mut self, wait: Duration) -> Self {
        self.push_wait = wait;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_url_that_is_not_http_and_a_level_above_three() {
        let refused = |url: &str, level| Target::new(url, None, level, Binding::Http).err();
        assert_eq!(refused("https://x", 1), Some(BadTarget::Url { url: "https://x".to_owned() }));
        assert_eq!(refused("http://x", 4), Some(BadTarget::Level { level: 4 }));
        assert_eq!(refused("http://127.0.0.1:7070", 3), None);
    }

    #[test]
    fn reads_a_bound_key_whose_key_has_colons_in_it() {
        let key = BoundKey::parse("ana:4:k:1").unwrap();
        assert_eq!((key.agent.as_str(), key.authority, key.key.as_str()), ("ana", 4, "k:1"));
        assert_eq!(BoundKey::parse("ana:10:k"), Err(BadTarget::BoundKey));
        assert_eq!(BoundKey::parse("ana"), Err(BadTarget::BoundKey));
    }
}
