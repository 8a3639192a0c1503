//! Requests of others, passed on.

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStream};
use reqwest::{Body, Method, StatusCode, header::HeaderMap};

use crate::{Client, Error, Result};

/// A request that somebody else made.
#[derive(Debug)]
pub struct Forwarded<'a> {
    /// Its method.
    pub method: Method,
    /// The pieces of its path; each stays one.
    pub segments: Vec<&'a str>,
    /// Its query, as it stands.
    pub query: Option<&'a str>,
    /// Its headers; our token is added.
    pub headers: HeaderMap,
}

/// How the answer begins.
#[derive(Debug)]
pub struct Head {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
}

impl Client {
    /// Passes a request on; the answer as it comes, whatever it says.
    pub async fn forward<S>(
        &self,
        request: Forwarded<'_>,
        body: S,
    ) -> Result<(Head, impl Stream<Item = Result<Bytes>> + Send + use<S>)>
    where
        S: TryStream<Ok = Bytes> + Send + 'static,
        S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Forwarded { method, segments, query, headers } = request;
        let mut url = self.endpoint().route(segments);
        url.set_query(query);
        let has_body = headers.contains_key(reqwest::header::CONTENT_LENGTH)
            || !matches!(method, Method::GET | Method::HEAD | Method::DELETE);
        let mut request = self.http().request(method, url).headers(headers);
        if has_body {
            request = request.body(Body::wrap_stream(body));
        }
        let mut response = request.send().await?;
        let head = Head { status: response.status(), headers: std::mem::take(response.headers_mut()) };
        Ok((head, response.bytes_stream().map(|piece| piece.map_err(Error::from))))
    }
}
