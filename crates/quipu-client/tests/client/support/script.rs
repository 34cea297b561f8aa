//! A server that says what it is told to, one connection after the other, and keeps what it was asked.

use std::time::Duration;

use quipu_client::{Connect, Field, Retry};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};

/// A server with a script.
pub(crate) struct Script {
    url: String,
    heard: mpsc::UnboundedReceiver<String>,
}

impl Script {
    /// Answers the first request on each connection with the next line of the script, and then closes
    /// the connection. After the last line it keeps every connection open and says nothing.
    pub(crate) async fn play(lines: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut lines = lines.into_iter();
            let mut silent = Vec::new();
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    if stream.read_buf(&mut head).await.unwrap() == 0 {
                        break;
                    }
                }
                tell.send(String::from_utf8_lossy(&head).into_owned()).ok();
                match lines.next() {
                    // The other side may have seen enough already.
                    Some(line) => drop(stream.write_all(&line).await),
                    None => silent.push(stream),
                }
            }
        });
        Self { url, heard }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn connect(&self) -> Connect {
        Field::connect(&self.url).retry(Retry {
            first_pause: Duration::from_millis(1),
            longest_pause: Duration::from_millis(2),
            ..Retry::default()
        })
    }

    /// The head of the next request that it heard.
    pub(crate) async fn heard(&mut self) -> String {
        self.heard.recv().await.unwrap()
    }

    /// How many requests it heard that nobody asked about yet.
    pub(crate) fn unasked(&mut self) -> usize {
        std::iter::from_fn(|| self.heard.try_recv().ok()).count()
    }
}

/// A whole answer.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

/// A whole answer in JSON.
pub(crate) fn json(status: &str, body: &str) -> Vec<u8> {
    whole(status, "content-type: application/json\r\n", body)
}
