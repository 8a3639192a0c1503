//! Server-sent events: what a source tells, and a sign of life when nothing happens.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{body::Body, response::Response};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{StreamExt, stream::BoxStream};
use http::{HeaderValue, header};
use http_body::{Body as HttpBody, Frame};
use serde::Serialize;
use tokio::time::{Instant, Sleep};

/// Proxies close what is silent for long; 15 s is below all common limits.
const HEARTBEAT: Duration = Duration::from_secs(15);

const HEARTBEAT_COMMENT: &[u8] = b": heartbeat\n\n";

/// Where events come from.
pub trait Source: Send + Unpin + 'static {
    /// The next events as they are sent; `None` when nothing will come any more.
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// A stream of frames that are events already.
impl Source for BoxStream<'static, Bytes> {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.poll_next_unpin(cx)
    }
}

/// An event without an id: its name, and what it says as JSON.
pub fn event(name: &str, data: &impl Serialize) -> Bytes {
    // What is serialised here is a wire type, which always can be.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// Events without a name or an id: each a text of JSON.
pub fn messages(texts: &[Bytes]) -> Bytes {
    let mut out = BytesMut::with_capacity(texts.iter().map(|text| text.len() + "data: \n\n".len()).sum());
    for text in texts {
        out.put_slice(b"data: ");
        out.put_slice(text);
        out.put_slice(b"\n\n");
    }
    out.freeze()
}

/// Answers with everything that `source` tells, until it ends.
pub fn response(source: impl Source) -> Response {
    let mut response = Response::new(Body::new(Events {
        source,
        heartbeat: Box::pin(tokio::time::sleep(HEARTBEAT)),
        greeted: false,
    }));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Some proxies gather a response before they pass it on; this asks the most common one not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Events<S> {
    source: S,
    heartbeat: Pin<Box<Sleep>>,
    greeted: bool,
}

impl<S: Source> HttpBody for Events<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if !this.greeted {
            // Sends the head at once, so that a client knows it is connected before anything happens.
            this.greeted = true;
            return data(Bytes::from_static(b": connected\n\n"));
        }
        match this.source.poll_events(cx) {
            Poll::Ready(Some(events)) => data(events),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                ready!(this.heartbeat.as_mut().poll(cx));
                this.heartbeat.as_mut().reset(Instant::now() + HEARTBEAT);
                // Registers the timer anew; a heartbeat that is not needed costs nothing.
                let _ = this.heartbeat.as_mut().poll(cx);
                data(Bytes::from_static(HEARTBEAT_COMMENT))
            }
        }
    }
}

fn data(bytes: Bytes) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
    Poll::Ready(Some(Ok(Frame::data(bytes))))
}
