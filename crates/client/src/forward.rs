//! Forwards requests for a proxy.

use std::error;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyDataStream;
use reqwest::Body;

use crate::{Client, Result, client::send_with_retry};

impl Client {
    /// Forwards a request to the same path on the server, with the token of this client, and returns the response as it is.
    ///
    /// The response to a WebSocket request that succeeds has the status 101 and can be upgraded.
    pub async fn forward<B>(&self, request: Request<B>) -> Result<Response<Body>>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let url = self.endpoint().join_path(path);
        let mut forwarded = self.http().request(head.method, url).headers(head.headers);
        if !body.is_end_stream() {
            forwarded = forwarded.body(Body::wrap_stream(BodyDataStream::new(body)));
        }
        Ok(send_with_retry(forwarded).await?.into())
    }
}
