//! As much of HTTP/1.1 as gatehouse needs: one request per connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Longer bodies are cut off.
const MAX_BODY: u64 = 4096;

pub struct Request {
    pub method: String,
    pub path: String,
    pub bearer: String,
    pub body: String,
}

pub struct Response {
    pub status: &'static str,
    pub body: String,
}

impl Response {
    pub fn ok(body: impl Into<String>) -> Response {
        Response::new("200 OK", body)
    }

    pub fn new(status: &'static str, body: impl Into<String>) -> Response {
        let body = body.into();
        Response { status, body }
    }
}

pub fn read(stream: &TcpStream) -> io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_string);
    let mut request = Request {
        method: words.next().unwrap_or_default(),
        path: words.next().unwrap_or_default(),
        bearer: String::new(),
        body: String::new(),
    };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => request.bearer = value.trim_start_matches("Bearer ").to_string(),
            "content-length" => length = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    reader
        .take(length.min(MAX_BODY))
        .read_to_string(&mut request.body)?;
    Ok(request)
}

pub fn write(mut stream: &TcpStream, response: &Response) -> io::Result<()> {
    let Response { status, body } = response;
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
