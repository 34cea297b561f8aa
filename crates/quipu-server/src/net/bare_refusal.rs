//! Gives the refusals that the HTTP library writes by itself the protocol's shape. What is hardly HTTP,
//! or has a head that is too large, never reaches a handler; the library answers it with a bare status
//! and offers no way to say more, so its answer is exchanged on the way out.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use quipu_wire::{ErrorCode, ProtocolError};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// No answer of the library's own is longer.
const BARE_BYTES_MAX: usize = 256;

/// A connection on which no refusal is bare.
#[derive(Debug)]
pub(crate) struct NoBareRefusals<S> {
    stream: S,
    /// What is written instead, and how much of it has been.
    instead: Vec<u8>,
    written: usize,
}

impl<S> NoBareRefusals<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, instead: Vec::new(), written: 0 }
    }
}

impl<S: AsyncWrite + Unpin> NoBareRefusals<S> {
    fn poll_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.instead.get(self.written..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes the bytes over if they are a bare refusal.
    fn exchange(&mut self, bytes: &[u8]) -> bool {
        let Some(instead) = in_shape(bytes) else { return false };
        (self.instead, self.written) = (instead, 0);
        true
    }
}

/// The refusal in the protocol's shape, if the bytes are a bare one. Every answer of ours has a body or
/// a request id.
fn in_shape(bytes: &[u8]) -> Option<Vec<u8>> {
    let status = bytes.strip_prefix(b"HTTP/1.1 4")?.get(..2)?;
    let head = std::str::from_utf8(bytes).ok().filter(|head| head.len() <= BARE_BYTES_MAX)?;
    let is_bare = head.contains("content-length: 0\r\n") && !head.contains("x-request-id");
    if !is_bare || !head.ends_with("\r\n\r\n") {
        return None;
    }
    let (code, message) = match status {
        b"00" => (ErrorCode::InvalidPayload, "the request is not HTTP/1.1"),
        b"14" => (ErrorCode::PayloadTooLarge, "the address of the request is too long"),
        b"31" => (ErrorCode::PayloadTooLarge, "the head of the request is too large"),
        _ => return None,
    };
    // The error is made of texts and booleans only, which always have a JSON form.
    let body = serde_json::to_string(&ProtocolError::new(code, message)).unwrap_or_default();
    let status = code.http_status();
    let phrase = if status == 400 { "Bad Request" } else { "Payload Too Large" };
    let length = body.len();
    Some(
        format!(
            "HTTP/1.1 {status} {phrase}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .into_bytes(),
    )
}

impl<S: AsyncRead + Unpin> AsyncRead for NoBareRefusals<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for NoBareRefusals<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_instead(cx))?;
        if self.exchange(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_instead(cx))?;
        if let [only] = slices
            && self.exchange(only)
        {
            return Poll::Ready(Ok(only.len()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    const BARE: &[u8] = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\
                          content-length: 0\r\n\r\n";

    #[tokio::test]
    async fn a_bare_refusal_is_exchanged_also_where_little_is_taken_at_a_time() {
        let (ours, mut theirs) = tokio::io::duplex(7);
        let reading = tokio::spawn(async move {
            let mut text = String::new();
            theirs.read_to_string(&mut text).await.unwrap();
            text
        });
        let mut stream = NoBareRefusals::new(ours);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        stream.write_all(BARE).await.unwrap();
        stream.shutdown().await.unwrap();
        drop(stream);
        let text = reading.await.unwrap();
        let (_, refusal) = text.split_once("HTTP/1.1 413 Payload Too Large\r\n").unwrap();
        let (_, body) = refusal.split_once("\r\n\r\n").unwrap();
        let error: ProtocolError = serde_json::from_str(body).unwrap();
        assert_eq!(error.code, ErrorCode::PayloadTooLarge);
    }

    #[test]
    fn an_answer_of_ours_is_left_alone() {
        for ours in [
            &b"HTTP/1.1 400 Bad Request\r\nx-request-id: 1\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n",
            b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        ] {
            assert_eq!(in_shape(ours), None);
        }
    }
}
