//! Whether an answer is like the one on the page. `…` in a text of the page stands for anything, and a
//! longer text with it stands for the same thing in the whole page, in requests too.

use std::collections::BTreeMap;

use serde_json::Value;

/// Numbers that differ from run to run, by their key.
const MEASURED: [&str; 2] = ["relevance_score", "time_ms"];

/// What each text with `…` in it turned out to stand for.
#[derive(Debug, Default)]
pub(super) struct Meanings(BTreeMap<String, String>);

impl Meanings {
    /// A request with everything that is known by now in its place.
    pub(super) fn fill_in(&self, request: &str) -> String {
        // Longer texts first, so that one does not spoil another that begins alike.
        let mut known: Vec<(&String, &String)> = self.0.iter().collect();
        known.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        known.into_iter().fold(request.to_owned(), |all, (text, real)| all.replace(text, real))
    }

    /// Compares and learns. The error says where they differ.
    pub(super) fn compare(&mut self, shown: &Value, real: &Value, at: &str) -> Result<(), String> {
        match (shown, real) {
            (Value::Object(shown), Value::Object(other)) => {
                for key in shown.keys().chain(other.keys()) {
                    let at = format!("{at}/{key}");
                    let Some(one) = shown.get(key) else {
                        return Err(format!("{at} is not shown: {real}"));
                    };
                    let Some(two) = other.get(key) else {
                        return Err(format!("{at} did not come: {real}"));
                    };
                    let measured =
                        MEASURED.contains(&key.as_str()) && one.is_number() && two.is_number();
                    if !measured {
                        self.compare(one, two, &at)?;
                    }
                }
                Ok(())
            }
            (Value::Array(shown), Value::Array(other)) if shown.len() == other.len() => {
                let pairs = (0..).zip(shown.iter().zip(other));
                pairs
                    .into_iter()
                    .try_for_each(|(n, (one, two))| self.compare(one, two, &format!("{at}/{n}")))
            }
            (Value::String(shown), Value::String(real)) => self.compare_texts(shown, real, at),
            _ if shown == real => Ok(()),
            _ => Err(format!("{at} is shown as {shown} and came as {real}")),
        }
    }

    /// Compares two texts and learns.
    pub(super) fn compare_texts(
        &mut self,
        shown: &str,
        real: &str,
        at: &str,
    ) -> Result<(), String> {
        if shown == "…" || shown == real || (is_time(shown) && is_time(real)) {
            return Ok(());
        }
        let known = self.0.get(shown);
        if fits(shown, real) && known.is_none_or(|known| known == real) {
            self.0.insert(shown.to_owned(), real.to_owned());
            return Ok(());
        }
        Err(format!("{at} is shown as {shown:?} ({known:?}) and came as {real:?}"))
    }
}

/// Whether the parts around each `…` are there, in order. Of an id such as `mem-b…` only the kind counts:
/// the rest is the page's own name for it.
fn fits(shown: &str, real: &str) -> bool {
    if let Some(name) = shown.strip_suffix('…').filter(|name| !name.contains([' ', '…'])) {
        let kind = name.split_once('-').map_or("", |(kind, _)| kind);
        return real.starts_with(kind);
    }
    let mut parts = shown.split('…');
    let Some(mut rest) = real.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        last = Some(part);
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    last.is_some_and(|last| last.is_empty() || real.ends_with(last))
}

/// A moment as RFC 3339 writes it.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20 && bytes[4] == b'-' && bytes[10] == b'T' && bytes.ends_with(b"Z")
}

#[test]
fn an_ellipsis_stands_for_the_same_thing_everywhere() {
    use serde_json::json;

    let mut meanings = Meanings::default();
    let shown = json!({"a": "mem-1…", "b": ["mem-1…"], "t": "2026-03-01T10:00:00Z"});
    let real = json!({"a": "mem-1xyz", "b": ["mem-1xyz"], "t": "2027-01-01T00:00:00.123Z"});
    assert_eq!(meanings.compare(&shown, &real, ""), Ok(()));
    assert_eq!(meanings.fill_in("{\"id\": \"mem-1…\"}"), "{\"id\": \"mem-1xyz\"}");
    let other = json!({"a": "mem-1abc", "b": ["mem-1abc"], "t": "2027-01-01T00:00:00.123Z"});
    assert!(meanings.compare(&shown, &other, "").is_err());
    assert!(meanings.compare(&json!({"a": 1}), &json!({"a": 1, "b": 2}), "").is_err());
    assert!(meanings.compare(&json!({"a": 1, "b": 2}), &json!({"a": 1}), "").is_err());
    assert!(fits("… sent: …", "ana sent: it") && !fits("… sent: …", "ana kept it"));
    assert!(!fits("mem", "mem-1"));
}
