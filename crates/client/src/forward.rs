//! Requests of others, passed on.

use std::error;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyDataStream;
use reqwest::Body;

use crate::{Client, Result, client::send};

impl Client {
    /// Passes a request on to the route that its path names, with our token; the answer as it comes, whatever it says.
    ///
    /// One that asks for a WebSocket and gets it is answered with 101, and can then be upgraded.
    pub async fn forward<B>(&self, request: Request<B>) -> Result<Response<Body>>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn error::Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let url = self.endpoint().below(path);
        let mut forwarded = self.http().request(head.method, url).headers(head.headers);
        if !body.is_end_stream() {
            forwarded = forwarded.body(Body::wrap_stream(BodyDataStream::new(body)));
        }
        Ok(send(forwarded).await?.into())
    }
}
