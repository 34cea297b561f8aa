//! The URIs of resources: `quipu://unit/{id}`, `quipu://conflict/{id}` and `quipu://replay/{kind}/{id}`.

use std::fmt;

use quipu_wire::akashik::ReplayTarget;

const SCHEME: &str = "quipu://";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResourceUri {
    Unit(String),
    Conflict(String),
    /// A replay: how a unit, decision, conflict, task or session came about.
    Replay(ReplayTarget, String),
}

impl ResourceUri {
    /// Parses a URI; `None` if it is not one of ours.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix(SCHEME)?.split('/');
        let kind = parts.next()?;
        let first = decoded(parts.next()?)?;
        let second = parts.next().map(decoded);
        if parts.next().is_some() {
            return None;
        }
        match (kind, second) {
            ("unit", None) => Some(Self::Unit(first)),
            ("conflict", None) => Some(Self::Conflict(first)),
            ("replay", Some(id)) => Some(Self::Replay(ReplayTarget::parse(&first)?, id?)),
            _ => None,
        }
    }

    /// Whether a change of this unit or conflict may change the text of the resource.
    pub(crate) fn is_touched(&self, unit: Option<&str>, conflict: Option<&str>) -> bool {
        match self {
            Self::Unit(id)
            | Self::Replay(ReplayTarget::MemoryUnit | ReplayTarget::Decision, id) => {
                unit == Some(id)
            }
            Self::Conflict(id) | Self::Replay(ReplayTarget::Conflict, id) => conflict == Some(id),
            // Pushes do not name the task or session they belong to, so every push counts.
            Self::Replay(ReplayTarget::Task | ReplayTarget::Session, _) => true,
        }
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit(id) => write!(f, "{SCHEME}unit/{}", encoded(id)),
            Self::Conflict(id) => write!(f, "{SCHEME}conflict/{}", encoded(id)),
            Self::Replay(kind, id) => {
                write!(f, "{SCHEME}replay/{}/{}", kind.as_str(), encoded(id))
            }
        }
    }
}

/// Percent-encodes an id as one segment of a path.
pub(crate) fn encoded(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok().filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_address_of_ours_is_none() {
        for text in [
            "",
            "quipu://",
            "quipu://unit/",
            "quipu://unit/a/b",
            "quipu://thing/a",
            "quipu://replay/a",
            "quipu://replay/weather/a",
            "quipu://unit/%4",
            "quipu://unit/%zz",
            "quipu://unit/%+1",
            "quipu://unit/%ff",
            "file:///etc/passwd",
        ] {
            assert_eq!(ResourceUri::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_address_leads_back_to_what_it_was_made_of(id in ".+") {
            for uri in [
                ResourceUri::Unit(id.clone()),
                ResourceUri::Conflict(id.clone()),
                ResourceUri::Replay(ReplayTarget::Task, id.clone()),
            ] {
                prop_assert_eq!(ResourceUri::parse(&uri.to_string()), Some(uri));
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            ResourceUri::parse(&text);
            ResourceUri::parse(&format!("{SCHEME}{text}"));
        }
    }
}
