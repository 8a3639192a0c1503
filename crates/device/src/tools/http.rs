//! An MCP server that is reached over HTTP, of which no more is held than a message may have.

use std::{collections::HashMap, io, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream::BoxStream};
use http::{HeaderName, HeaderValue, StatusCode, header};
use reqwest::Response;
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        StreamableHttpClient, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
        StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::{Error as SseError, Sse, SseStream};

/// The longest message: what is larger could not be passed on by far.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// An HTTP client that holds no more of an answer than a message may have.
#[derive(Debug, Clone)]
pub(crate) struct Bounded(reqwest::Client);

type Outcome<T> = Result<T, StreamableHttpError<reqwest::Error>>;

/// Speaks with the server at this address.
///
/// # Errors
/// If there can be no HTTP client.
pub(crate) fn transport(
    url: &str,
    headers: &HashMap<HeaderName, HeaderValue>,
) -> Result<StreamableHttpClientTransport<Bounded>, reqwest::Error> {
    // A redirection would take the headers, and what is asked, to somebody else.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers.clone())
        .max_sse_event_size(MESSAGE_BYTES_MAX);
    Ok(StreamableHttpClientTransport::with_client(Bounded(client), config))
}

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<StreamableHttpPostResponse> {
        let in_session = session.is_some();
        let mut request = self.0.post(&*uri).headers(headers.into_iter().collect());
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        let request = request.header(header::ACCEPT, "application/json, text/event-stream").json(&message);
        let response = request.send().await.map_err(nameless)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let session = text(&response, SESSION);
        let kind = text(&response, header::CONTENT_TYPE).unwrap_or_default();
        if status.is_success() && kind.starts_with("text/event-stream") {
            let events = SseStream::from_bytes_stream(bounded(response.bytes_stream())).boxed();
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        let body = body(response).await?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(said) if status.is_success() => Ok(StreamableHttpPostResponse::Json(said, session)),
            // Who may not come in is no matter of the message.
            Ok(said @ JsonRpcMessage::Error(_))
                if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) =>
            {
                Ok(StreamableHttpPostResponse::Json(said, session))
            }
            Err(_) if status.is_success() && !matches!(message, JsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            _ => Err(unexpected(format!("HTTP {status} without an MCP message"))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<()> {
        self.0.delete_session(uri, session, auth, headers).await.map_err(without_url)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<BoxStream<'static, Result<Sse, SseError>>> {
        let max = MESSAGE_BYTES_MAX;
        let stream = self.0.get_stream_with_max_sse_event_size(uri, session, last, auth, headers, max);
        stream.await.map_err(without_url)
    }
}

/// All of an answer, if it is not too large.
async fn body(mut response: Response) -> Outcome<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(nameless)? {
        if body.len() + chunk.len() > MESSAGE_BYTES_MAX {
            return Err(unexpected("a message that exceeds the size limit".into()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The same bytes, as long as no event among them is too large. Events are parted by an empty line.
fn bounded(
    bytes: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, io::Error>> + Send + 'static {
    let (mut event_bytes, mut line_is_empty) = (0, true);
    bytes.map(move |chunk| {
        let chunk = chunk.map_err(|error| io::Error::other(error.without_url()))?;
        for byte in &chunk {
            event_bytes += 1;
            match byte {
                b'\n' if line_is_empty => event_bytes = 0,
                b'\n' => line_is_empty = true,
                b'\r' => {}
                _ => line_is_empty = false,
            }
            if event_bytes > MESSAGE_BYTES_MAX {
                return Err(io::Error::other("an event exceeds the size limit"));
            }
        }
        Ok(chunk)
    })
}

fn text(response: &Response, name: HeaderName) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// An address may hold a secret.
fn nameless(error: reqwest::Error) -> StreamableHttpError<reqwest::Error> {
    StreamableHttpError::Client(error.without_url())
}

fn without_url(error: StreamableHttpError<reqwest::Error>) -> StreamableHttpError<reqwest::Error> {
    match error {
        StreamableHttpError::Client(error) => nameless(error),
        other => other,
    }
}

fn unexpected(what: String) -> StreamableHttpError<reqwest::Error> {
    StreamableHttpError::UnexpectedServerResponse(what.into())
}
