//! The bodies of a commit as JSON text, for the SQLite column and for export lines. There is only one encoding: text
//! that would not encode to the same bytes is refused.

use serde_json::value::RawValue;

use crate::commit::{Body, BodyContent, Salt, StoredBody};

/// A body whose JSON is not UTF-8.
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

/// Whether each body is exactly one JSON value, so that it can be found again inside the encoded text.
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

/// Reads what [`encode`] wrote. Trailing spaces are allowed, because erasing a body in place leaves them.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<StoredBody>, String> {
    let text = std::str::from_utf8(text).map_err(|e| e.to_string())?.trim_end_matches(' ');
    let mut reader = Reader { rest: text };
    reader.bodies().ok_or_else(|| {
        let at = text.len() - reader.rest.len();
        format!("not in the form in which bodies are written, from byte {at} on")
    })
}

/// Parses the one allowed encoding directly. Every commit that is read passes through here, so nothing is encoded
/// again only to be compared.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn bodies(&mut self) -> Option<Vec<StoredBody>> {
        let mut bodies = Vec::with_capacity(1);
        self.skip("[")?;
        loop {
            bodies.push(self.body()?);
            if self.rest == "]" {
                return Some(bodies);
            }
            self.skip(",")?;
        }
    }

    fn body(&mut self) -> Option<StoredBody> {
        self.skip(r#"{"event":"#)?;
        let event = self.number()?;
        let content = if self.skip(r#","erased":true"#).is_some() {
            BodyContent::Erased
        } else {
            self.skip(r#","salt":""#)?;
            let salt: Salt = self.take(32)?.parse().ok()?;
            self.skip(r#"","body":"#)?;
            BodyContent::Present(Body { salt, json: self.json()?.as_bytes().to_vec() })
        };
        self.skip("}")?;
        Some(StoredBody { event, content })
    }

    fn skip(&mut self, expected: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    fn take(&mut self, bytes: usize) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = self.take(digits)?;
        let is_shortest = digits == "0" || !digits.starts_with('0');
        digits.parse().ok().filter(|_| is_shortest)
    }

    /// A JSON value that starts at the current position.
    fn json(&mut self) -> Option<&'a str> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<&RawValue>();
        let value = values.next()?.ok()?.get();
        let is_here = values.byte_offset() == value.len();
        self.take(value.len()).filter(|_| is_here)
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
            text.replace("\"event\":7", "\"event\":07"),
            text.replace("\"body\":", "\"body\": "),
            text.replace("},{", "}, {"),
            text.replace("},{", "}{"),
            text.replace("null", "nul"),
            text.replace("null", "null,"),
            text.replace("null", ""),
            text[..text.len() - 1].to_owned(),
            "[]".to_owned(),
            "[".to_owned(),
            String::new(),
        ] {
            assert!(decode(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
