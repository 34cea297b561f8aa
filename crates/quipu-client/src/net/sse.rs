//! Server-sent events, from bytes as they come to events. However the bytes are cut, the events are the
//! same.

use crate::limits::EVENT_BYTES_MAX;

/// One block of a stream. Without data it is a sign of life, or says where the stream stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SentEvent {
    /// Where to resume, if it says so.
    pub(crate) id: Option<String>,
    /// What it is; empty where it does not say.
    pub(crate) event: String,
    pub(crate) data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError {
    #[error("an event is larger than {EVENT_BYTES_MAX} bytes")]
    TooLarge,
    #[error("an event is not UTF-8")]
    NotText,
}

/// Takes bytes, gives events.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    bytes: Vec<u8>,
    /// Up to where no line's end is left.
    searched: usize,
    current: SentEvent,
    /// Whether the current block has a line.
    begun: bool,
    /// Bytes of data of the current block.
    size: usize,
}

impl SseReader {
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next block, or none until more bytes have come.
    pub(crate) fn next(&mut self) -> Result<Option<SentEvent>, SseError> {
        loop {
            let rest = self.bytes.get(self.searched..).unwrap_or_default();
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.bytes.len();
                let too_large = self.bytes.len() + self.size > EVENT_BYTES_MAX;
                return if too_large { Err(SseError::TooLarge) } else { Ok(None) };
            };
            let whole: Vec<u8> = self.bytes.drain(..=self.searched + end).collect();
            self.searched = 0;
            let line = std::str::from_utf8(&whole).map_err(|_| SseError::NotText)?;
            let line = line.trim_end_matches(['\n', '\r']);
            if !line.is_empty() {
                self.read_line(line)?;
            } else if self.begun {
                self.begun = false;
                self.size = 0;
                return Ok(Some(std::mem::take(&mut self.current)));
            }
        }
    }

    fn read_line(&mut self, line: &str) -> Result<(), SseError> {
        self.begun = true;
        self.size += line.len();
        if self.size > EVENT_BYTES_MAX {
            return Err(SseError::TooLarge);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.current.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.current.event),
            "data" => {
                if !self.current.data.is_empty() {
                    self.current.data.push('\n');
                }
                self.current.data.push_str(value);
            }
            // A comment, how long to wait, or what nobody knows.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(parts: &[&[u8]]) -> Vec<SentEvent> {
        let mut reader = SseReader::default();
        let mut events = Vec::new();
        for part in parts {
            reader.take(part);
            while let Some(event) = reader.next().unwrap() {
                events.push(event);
            }
        }
        events
    }

    fn event(id: Option<&str>, event: &str, data: &str) -> SentEvent {
        SentEvent { id: id.map(str::to_owned), event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn reads_what_a_server_writes() {
        let text = "retry: 1000\nid: 4.0.0\n\nid: 4.0.1\nevent: memory.recorded\ndata: {\"a\": 1}\n\n\
                    : heartbeat\nid: 5.0.0\n\n\r\nevent:end\r\ndata:x\r\ndata: y\r\n\r\n";
        assert_eq!(
            read(&[text.as_bytes()]),
            [
                event(Some("4.0.0"), "", ""),
                event(Some("4.0.1"), "memory.recorded", "{\"a\": 1}"),
                event(Some("5.0.0"), "", ""),
                event(None, "end", "x\ny"),
            ]
        );
    }

    #[test]
    fn a_line_without_end_is_not_kept_for_ever() {
        let mut reader = SseReader::default();
        let part = vec![b'x'; 1024 * 1024];
        let refused = (0..64).find_map(|_| {
            reader.take(&part);
            reader.next().err()
        });
        assert_eq!(refused, Some(SseError::TooLarge));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let mut reader = SseReader::default();
        reader.take(b"data: \xff\n\n");
        assert_eq!(reader.next(), Err(SseError::NotText));
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_events_are_the_same(
            data in proptest::collection::vec("[a-zä: ]{0,6}", 1..6),
            cuts in proptest::collection::vec(0usize..200, 0..8),
        ) {
            let text: String =
                data.iter().enumerate().map(|(n, data)| format!("id: {n}\nevent: e\ndata: {data}\n\n")).collect();
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            let events = read(&parts);
            prop_assert_eq!(&events, &read(&[bytes]));
            prop_assert_eq!(events.len(), data.len());
            for (event, data) in events.iter().zip(&data) {
                prop_assert_eq!(&event.data, data);
            }
        }
    }
}
