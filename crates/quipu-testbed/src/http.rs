//! A small blocking HTTP/1.1 client over one keep-alive connection. It can also send bytes that are
//! no HTTP at all.

use std::{
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

const TIMEOUT: Duration = Duration::from_secs(30);

/// What the server answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers in order.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON, which it must be.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {} {:?}", self.status, self.text()))
    }

    /// The body of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends a request with a body and reads the answer.
    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.send(&bytes)
    }

    /// Sends these very bytes and reads the answer, also when the server stopped listening midway.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        let sent = self.stream.get_mut().write_all(bytes);
        self.read_answer().map_err(|error| sent.err().unwrap_or(error))
    }

    /// Closes the sending side and reads the answer, if there is one.
    pub fn send_and_stop(&mut self, bytes: &[u8]) -> io::Result<Answer> {
        self.stream.get_mut().write_all(bytes)?;
        self.stream.get_mut().shutdown(std::net::Shutdown::Write)?;
        self.read_answer()
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn read_answer(&mut self) -> io::Result<Answer> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, first))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        let length = answer.header("content-length").and_then(|text| text.parse().ok());
        if let Some(length) = length {
            answer.body = vec![0; length];
            self.stream.read_exact(&mut answer.body)?;
        } else if answer.header("transfer-encoding").is_some() {
            answer.body = self.read_chunks()?;
        }
        Ok(answer)
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let size = usize::from_str_radix(&line, 16)
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            let mut chunk = vec![0; size];
            self.stream.read_exact(&mut chunk)?;
            self.line()?;
            if size == 0 {
                return Ok(body);
            }
            body.extend(chunk);
        }
    }
}
