//! The body of an answer as a stream of bytes, whichever way its length is given.

use std::io::{self, BufRead, Read};

use super::head::{Length, bad, read_line};

/// A body on top of the connection that it comes from.
#[derive(Debug)]
pub(crate) struct Body<R> {
    from: R,
    length: Length,
    /// What is left of the chunk that is being read.
    chunk: u64,
    begun: bool,
    ended: bool,
}

impl<R: BufRead> Body<R> {
    pub(crate) fn new(from: R, length: Length) -> Self {
        Self { from, length, chunk: 0, begun: false, ended: false }
    }

    fn next_chunk(&mut self) -> io::Result<()> {
        if self.begun {
            read_line(&mut self.from)?;
        }
        self.begun = true;
        let line = read_line(&mut self.from)?.ok_or_else(|| bad("a chunk is missing"))?;
        let size = line.split(';').next().unwrap_or_default().trim();
        self.chunk = u64::from_str_radix(size, 16).map_err(|_| bad("a chunk has no size"))?;
        if self.chunk == 0 {
            self.ended = true;
            while read_line(&mut self.from)?.is_some_and(|trailer| !trailer.is_empty()) {}
        }
        Ok(())
    }

    fn read_at_most(&mut self, most: u64, into: &mut [u8]) -> io::Result<usize> {
        self.from.by_ref().take(most).read(into)
    }
}

impl<R: BufRead> Read for Body<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.ended || into.is_empty() {
            return Ok(0);
        }
        match self.length {
            Length::UntilClose => self.from.read(into),
            Length::Exactly(0) => Ok(0),
            Length::Exactly(left) => {
                let count = self.read_at_most(left, into)?;
                if count == 0 {
                    return Err(bad("the body ended early"));
                }
                self.length = Length::Exactly(left - count as u64);
                Ok(count)
            }
            Length::Chunked => {
                if self.chunk == 0 {
                    self.next_chunk()?;
                    if self.ended {
                        return Ok(0);
                    }
                }
                let count = self.read_at_most(self.chunk, into)?;
                if count == 0 {
                    return Err(bad("a chunk ended early"));
                }
                self.chunk -= count as u64;
                Ok(count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, length: Length) -> io::Result<String> {
        let mut out = String::new();
        Body::new(text.as_bytes(), length).read_to_string(&mut out).map(|_| out)
    }

    #[test]
    fn joins_chunks_and_stops_at_the_last() {
        let text = "4\r\nWiki\r\n5;x=y\r\npedia\r\n0\r\n\r\nHTTP/1.1";
        assert_eq!(read(text, Length::Chunked).unwrap(), "Wikipedia");
    }

    #[test]
    fn reads_no_further_than_the_length() {
        assert_eq!(read("abcdef", Length::Exactly(3)).unwrap(), "abc");
        assert_eq!(read("abcdef", Length::UntilClose).unwrap(), "abcdef");
    }

    #[test]
    fn a_body_that_is_cut_off_is_an_error() {
        assert!(read("ab", Length::Exactly(3)).is_err());
        assert!(read("4\r\nWi", Length::Chunked).is_err());
        assert!(read("", Length::Chunked).is_err());
    }
}
