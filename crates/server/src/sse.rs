//! Server-sent event streams, with heartbeats while there are no events.

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
use journal::Gap;
use serde::Serialize;
use serde_json::json;
use tokio::time::{Instant, Sleep};

/// Proxies close connections without traffic. 15 s is below the idle timeouts of all common ones.
const HEARTBEAT: Duration = Duration::from_secs(15);

const HEARTBEAT_COMMENT: &[u8] = b": heartbeat\n\n";

/// A source of server-sent events.
pub trait EventSource: Send + Unpin + 'static {
    /// The next events, already rendered; `None` at the end of the stream.
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// A stream of rendered events.
impl EventSource for BoxStream<'static, Bytes> {
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.poll_next_unpin(cx)
    }
}

/// Renders an event without an id, with `data` as JSON.
pub fn event(name: &str, data: &impl Serialize) -> Bytes {
    // Never empty: wire types always serialize.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n").into()
}

/// Renders the control event for a reader whose next events are no longer retained. It carries the range that still is.
pub fn gap_event(gap: Gap) -> Bytes {
    event("gap", &json!({ "oldest": gap.oldest.get(), "newest": gap.newest.get() }))
}

/// Renders events without a name or an id, each with a JSON text as data.
pub fn data_events(texts: &[Bytes]) -> Bytes {
    let mut out = BytesMut::with_capacity(texts.iter().map(|text| text.len() + "data: \n\n".len()).sum());
    for text in texts {
        out.put_slice(b"data: ");
        out.put_slice(text);
        out.put_slice(b"\n\n");
    }
    out.freeze()
}

/// A response that streams the events of `source` until it ends.
pub fn response(source: impl EventSource) -> Response {
    let mut response = Response::new(Body::new(EventStreamBody {
        source,
        heartbeat: Box::pin(tokio::time::sleep(HEARTBEAT)),
        connected_sent: false,
    }));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Turns off response buffering in nginx, which would delay events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct EventStreamBody<S> {
    source: S,
    heartbeat: Pin<Box<Sleep>>,
    connected_sent: bool,
}

impl<S: EventSource> HttpBody for EventStreamBody<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if !this.connected_sent {
            // Makes the server send the response headers immediately, so that the client knows that it is connected.
            this.connected_sent = true;
            return data_frame(Bytes::from_static(b": connected\n\n"));
        }
        match this.source.poll_events(cx) {
            Poll::Ready(Some(events)) => data_frame(events),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                ready!(this.heartbeat.as_mut().poll(cx));
                this.heartbeat.as_mut().reset(Instant::now() + HEARTBEAT);
                // Polled again to register the waker for the new deadline. The timer is not reset by events: an extra
                // heartbeat is cheaper than a reset per event.
                let _ = this.heartbeat.as_mut().poll(cx);
                data_frame(Bytes::from_static(HEARTBEAT_COMMENT))
            }
        }
    }
}

fn data_frame(bytes: Bytes) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
    Poll::Ready(Some(Ok(Frame::data(bytes))))
}
