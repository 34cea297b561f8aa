//! Which versions of the protocol are spoken, and what the version header must say (V-1 to V-6).

use crate::words::words;

use super::{HarnError, HarnErrorCode, JsonObject};

/// The header that every request but discovery carries.
pub const VERSION_HEADER: &str = "Harn-Agents-Protocol-Version";

words! {
    /// A version of the protocol. Two are live: the published text and its clients say the first,
    /// the newest conformance suite says the second. Both mean the same resources here.
    HarnVersion {
        /// The version of the published text, the clients and the receipts.
        V20260425 = "agents-protocol-2026-04-25",
        /// The version of the newest suite.
        V20261011 = "agents-protocol-2026-10-11",
    }
}

impl HarnVersion {
    /// What discovery says to a caller that names no version.
    pub const DEFAULT: Self = Self::V20260425;

    /// Reads the header's lines of one request.
    ///
    /// # Errors
    /// 426 where it is missing, there twice, or not one of ours; the answer lists what is.
    pub fn negotiate<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, HarnError> {
        let mut lines = lines.into_iter();
        let problem = match (lines.next(), lines.next()) {
            (None, _) => format!("the header {VERSION_HEADER} is required"),
            (Some(_), Some(_)) => format!("the header {VERSION_HEADER} is there twice"),
            (Some(line), None) => {
                let word = std::str::from_utf8(line).map(str::trim).unwrap_or_default();
                match Self::parse(word) {
                    Some(version) => return Ok(version),
                    None => format!("the version in {VERSION_HEADER} is not spoken here"),
                }
            }
        };
        let mut error = HarnError::new(HarnErrorCode::UnsupportedProtocolVersion, problem);
        let spoken: Vec<&str> = Self::ALL.iter().map(|version| version.as_str()).collect();
        error.param = Some(VERSION_HEADER.to_owned());
        error.details = JsonObject::with("supported_versions", spoken);
        Err(error)
    }

    /// The version that a discovery document names as current: the caller's, if it is one of ours.
    #[must_use]
    pub fn current_for(line: Option<&[u8]>) -> Self {
        line.and_then(|line| std::str::from_utf8(line).ok())
            .and_then(|word| Self::parse(word.trim()))
            .unwrap_or(Self::DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_live_versions_are_spoken() {
        for version in HarnVersion::ALL {
            let line = version.as_str().as_bytes();
            assert_eq!(HarnVersion::negotiate([line]), Ok(*version));
            assert_eq!(HarnVersion::current_for(Some(line)), *version);
        }
        assert_eq!(HarnVersion::current_for(None), HarnVersion::V20260425);
        assert_eq!(
            HarnVersion::current_for(Some(b"agents-protocol-1900-01-01")).as_str(),
            "agents-protocol-2026-04-25"
        );
    }

    #[test]
    fn a_missing_doubled_or_foreign_version_is_426_and_the_answer_lists_ours() {
        let ours = HarnVersion::V20261011.as_str().as_bytes();
        let refused: [&[&[u8]]; 4] =
            [&[], &[ours, ours], &[b"agents-protocol-1900-01-01"], &[b"\xff"]];
        for lines in refused {
            let error = HarnVersion::negotiate(lines.iter().copied()).unwrap_err();
            assert_eq!(error.code.http_status(), 426);
            assert_eq!(
                error.details["supported_versions"],
                json!(["agents-protocol-2026-04-25", "agents-protocol-2026-10-11"])
            );
        }
    }
}
