//! Reads pushes from the server-sent events of a subscription.

use quipu_wire::akashik::PushNotification;

/// The longest line that is kept. No push is longer.
const LINE_BYTES_MAX: usize = 1024 * 1024;

/// Collects bytes as they arrive and returns every push that is complete.
#[derive(Debug, Default)]
pub struct PushReader {
    line: Vec<u8>,
}

impl PushReader {
    /// Takes the next bytes and returns the pushes that they complete.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<PushNotification> {
        let mut pushes = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() <= LINE_BYTES_MAX {
                self.line.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                // The final event of a stream has data too, but it is no push.
                pushes.extend(
                    self.line
                        .strip_prefix(b"data:")
                        .and_then(|data| serde_json::from_slice(data).ok()),
                );
                self.line.clear();
            }
        }
        pushes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STREAM: &str = "retry: 1000\nid: 4.0.0\n\n: heartbeat\n\nid: 4.0.1\nevent: memory.recorded\ndata: \
        {\"subscription_id\":\"s\",\"event\":\"memory.recorded\",\"epoch\":4,\"relevance_score\":0.29,\"summary\":\"ü\",\
        \"memory_unit_id\":\"mem-1\",\"conflict_id\":null,\"requires_action\":false,\"cursor\":\"4.0.1\"}\n\n\
        event: end\ndata: {\"cursor\":\"12.0.0\",\"reason\":\"shutdown\"}\n\n";

    proptest! {
        #[test]
        fn pushes_are_found_however_the_stream_is_cut(cuts in prop::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut reader = PushReader::default();
            let (mut found, mut from) = (Vec::new(), 0);
            for cut in cuts.into_iter().chain([STREAM.len()]) {
                found.extend(reader.read(&STREAM.as_bytes()[from..cut]));
                from = cut;
            }
            let cursors: Vec<_> = found.iter().map(|push| push.cursor.as_str()).collect();
            prop_assert_eq!(cursors, ["4.0.1"]);
        }
    }
}
