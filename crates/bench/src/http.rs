//! A minimal HTTP/1.1 client.

mod chunked_decoder;
mod http_connection;
mod response_head;

use std::{io, net::SocketAddr, time::Duration};

pub(crate) use chunked_decoder::ChunkedDecoder;
pub(crate) use http_connection::{HttpConnection, HttpResponse};
pub(crate) use response_head::{BodyFraming, ResponseHead};

/// Formats a request without a body. `header` is empty or holds header lines without the last line break.
pub(crate) fn request(method: &str, path: &str, header: &str) -> Vec<u8> {
    let end = if header.is_empty() { "" } else { "\r\n" };
    format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{header}{end}\r\n").into_bytes()
}

/// Formats a `POST` request with a JSON body.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    let header = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
    let mut request = request("POST", path, &header);
    request.extend_from_slice(body.as_bytes());
    request
}

/// Sends one request on a new connection and waits for its response.
pub(crate) fn request_once(
    address: SocketAddr,
    request: &[u8],
    timeout: Duration,
) -> io::Result<HttpResponse> {
    HttpConnection::open(address)?.with_read_timeout(timeout)?.request(request)
}
