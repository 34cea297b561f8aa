//! The bodies of a commit as JSON text, for the SQLite column and for export lines.
//! One spelling only: what does not encode back to the same bytes is refused.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::commit::{Body, BodyContent, StoredBody};
use crate::salt::Salt;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<'a> {
    event: u32,
    #[serde(default)]
    salt: Option<Salt>,
    #[serde(borrow, default, deserialize_with = "present")]
    body: Option<&'a RawValue>,
    #[serde(default)]
    erased: bool,
}

// A body may be the JSON `null`, which must not read as "no body".
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// A body whose JSON is not even text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the body of event {event} is not UTF-8")]
pub(crate) struct NotText {
    event: u32,
}

/// The bodies as `[{"event":0,"salt":"..","body":..},{"event":1,"erased":true}]`, `None` if there are none.
pub(crate) fn encode(bodies: &[StoredBody]) -> Result<Option<String>, NotText> {
    let mut out = String::with_capacity(bodies.iter().map(|stored| 80 + text_len(stored)).sum());
    encode_into(bodies, &mut out)?;
    Ok((!out.is_empty()).then_some(out))
}

/// Replaces what is in `out` by the encoded bodies; leaves it empty if there are none.
/// The JSON of a body goes in byte by byte.
pub(crate) fn encode_into(bodies: &[StoredBody], out: &mut String) -> Result<(), NotText> {
    out.clear();
    for StoredBody { event, content } in bodies {
        out.push_str(if out.is_empty() { r#"[{"event":"# } else { r#",{"event":"# });
        out.push_str(&event.to_string());
        match content {
            BodyContent::Erased => out.push_str(r#","erased":true}"#),
            BodyContent::Present(Body { salt, json }) => {
                let json = std::str::from_utf8(json).map_err(|_| NotText { event: *event })?;
                out.push_str(r#","salt":""#);
                salt.push_hex(out);
                out.push_str(r#"","body":"#);
                out.push_str(json);
                out.push('}');
            }
        }
    }
    if !out.is_empty() {
        out.push(']');
    }
    Ok(())
}

/// Whether each body is one JSON value and nothing else, so that it can be found again inside the encoded text.
pub(crate) fn are_json(bodies: &[StoredBody]) -> bool {
    bodies.iter().all(|stored| match &stored.content {
        BodyContent::Erased => true,
        BodyContent::Present(body) => serde_json::from_slice::<&RawValue>(&body.json)
            .is_ok_and(|value| value.get().len() == body.json.len()),
    })
}

const fn text_len(stored: &StoredBody) -> usize {
    match &stored.content {
        BodyContent::Present(body) => body.json.len(),
        BodyContent::Erased => 0,
    }
}

/// Reads what [`encode`] wrote. Trailing spaces are allowed: an erased body leaves them in its place.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<StoredBody>, String> {
    let text = std::str::from_utf8(text).map_err(|e| e.to_string())?.trim_end_matches(' ');
    let entries: Vec<Entry<'_>> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let mut bodies = Vec::with_capacity(entries.len());
    for entry in entries {
        let content = match entry {
            Entry { salt: Some(salt), body: Some(json), erased: false, .. } => {
                BodyContent::Present(Body { salt, json: json.get().as_bytes().to_vec() })
            }
            Entry { salt: None, body: None, erased: true, .. } => BodyContent::Erased,
            Entry { event, .. } => return Err(format!("event {event} is neither body nor erased")),
        };
        bodies.push(StoredBody { event: entry.event, content });
    }
    if encode(&bodies).ok().flatten().as_deref() == Some(text) {
        Ok(bodies)
    } else {
        Err("not in the form in which bodies are written".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<StoredBody> {
        let body = |json: &str| {
            BodyContent::Present(Body {
                salt: Salt::from_bytes([0xab; 16]),
                json: json.as_bytes().to_vec(),
            })
        };
        vec![
            StoredBody { event: 0, content: body(r#"{"a":[1,"é"]}"#) },
            StoredBody { event: 1, content: BodyContent::Erased },
            StoredBody { event: 7, content: body("null") },
        ]
    }

    #[test]
    fn reads_back_what_was_written() {
        let text = encode(&sample()).unwrap().unwrap();
        assert_eq!(decode(text.as_bytes()).unwrap(), sample());
        assert_eq!(decode(format!("{text}   ").as_bytes()).unwrap(), sample());
        assert_eq!(encode(&[]).unwrap(), None);
    }

    #[test]
    fn refuses_every_other_spelling() {
        let text = encode(&sample()).unwrap().unwrap();
        for wrong in [
            text.replace("ab", "AB"),
            text.replace("\"event\":0", "\"event\": 0"),
            text.replace("true", "false"),
            text.replace("\"erased\":true", "\"other\":true"),
            format!(" {text}"),
            format!("{text}\n"),
            "[]".to_owned(),
            String::new(),
        ] {
            assert!(decode(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
