//! The head of an answer: status and the few headers that matter here.

use std::io::{self, BufRead, ErrorKind, Read};

use crate::limits::{HEADERS_MAX, LINE_BYTES_MAX};

/// How long the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// This many bytes.
    Exactly(u64),
    /// In chunks.
    Chunked,
    /// Until the server closes.
    UntilClose,
}

/// The head of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) length: Length,
    pub(crate) closes: bool,
}

/// Reads a head. `Ok(None)`: the connection ended before its first byte.
pub(crate) fn read_head(from: &mut impl BufRead) -> io::Result<Option<Head>> {
    let Some(line) = read_line(from)? else { return Ok(None) };
    let mut words = line.split(' ');
    let version = words.next().unwrap_or_default().to_owned();
    let status = words.next().and_then(|word| word.parse().ok());
    let Some(status) = status.filter(|_| version.starts_with("HTTP/1.")) else {
        return Err(bad(&format!("not a status line: {line:?}")));
    };
    let closes = version == "HTTP/1.0";
    let mut head = Head { status, content_type: String::new(), length: Length::UntilClose, closes };
    for _ in 0..HEADERS_MAX {
        let line = read_line(from)?.ok_or_else(|| bad("the head ended early"))?;
        if line.is_empty() {
            if matches!(head.status, 204 | 304) {
                head.length = Length::Exactly(0);
            }
            return Ok(Some(head));
        }
        head.take_header(&line)?;
    }
    Err(bad("too many headers"))
}

impl Head {
    fn take_header(&mut self, line: &str) -> io::Result<()> {
        let (name, value) = line.split_once(':').ok_or_else(|| bad("a header without a colon"))?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-type" => value.clone_into(&mut self.content_type),
            "connection" if value.eq_ignore_ascii_case("close") => self.closes = true,
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => {
                self.length = Length::Chunked;
            }
            "content-length" if self.length != Length::Chunked => {
                let bytes = value.parse().map_err(|_| bad("content-length is not a number"))?;
                self.length = Length::Exactly(bytes);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Reads one line without its end. `Ok(None)`: the connection has ended.
pub(crate) fn read_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    if from.by_ref().take(LINE_BYTES_MAX).read_line(&mut line)? == 0 {
        return Ok(None);
    }
    if !line.ends_with('\n') {
        return Err(bad("a line was cut off or is too long"));
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(Some(line))
}

pub(crate) fn bad(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_status_type_and_length() {
        let text = "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        let head = read_head(&mut text.as_bytes()).unwrap().unwrap();
        assert_eq!((head.status, head.length, head.closes), (409, Length::Exactly(2), false));
        assert_eq!(head.content_type, "application/json");
    }

    #[test]
    fn chunks_win_over_a_length() {
        let text = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 9\n\n";
        assert_eq!(read_head(&mut text.as_bytes()).unwrap().unwrap().length, Length::Chunked);
    }

    #[test]
    fn nothing_at_all_is_not_an_error_but_half_a_head_is() {
        assert_eq!(read_head(&mut "".as_bytes()).unwrap(), None);
        assert!(read_head(&mut "HTTP/1.1 200 OK\r\nA: b".as_bytes()).is_err());
        assert!(read_head(&mut "SMTP ready\r\n\r\n".as_bytes()).is_err());
    }
}
