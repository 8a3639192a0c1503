//! Answers of a runtime for somebody who does not see everything.
//!
//! An answer is read, shown through the lens, and written anew. What cannot be shown so is refused: streams, files,
//! processes, configuration and what agents say in their own protocol.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use http::{Method, header};
use protocol::{
    Event, Message, ProblemKind,
    sessions::{EventPage, SessionSnapshot, TranscriptPage},
    wait::WaitList,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use server::{ProblemResponse, Result};

use crate::policy::{Redactor, lost};

/// Why a request is refused whose response cannot be redacted.
pub(in crate::routes) const REFUSED: &str =
    "the policy hides content from your role, which cannot be removed from this response";

/// The largest answer that is shown in part: a page of events has 4 MiB and one event more.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Events, from the first on or not.
    Events {
        /// From the first on.
        whole: bool,
    },
    /// Messages.
    Transcript,
    /// What a session has come to.
    Snapshot,
    /// What waits for a person.
    Waits,
    /// One that was answered.
    Wait,
    /// Nothing that an agent thinks or a tool gives is in it.
    Other,
}

impl Shape {
    /// What the answer to a request is, if it can be shown in part. The path is the one after `v1`.
    pub(super) fn of(method: &Method, path: &[&str], query: Option<&str>) -> Option<Self> {
        match (method, path) {
            (&Method::GET, ["sessions", _, "events"]) => {
                let query = query.unwrap_or_default();
                let mut offsets = query.split('&').filter_map(|pair| pair.strip_prefix("offset="));
                Some(Self::Events { whole: !query.contains('%') && offsets.all(|offset| offset == "0") })
            }
            (&Method::GET, ["sessions", _, "messages"]) => Some(Self::Transcript),
            (&Method::GET, ["sessions", _, "snapshot"]) => Some(Self::Snapshot),
            (&Method::GET, ["waits"]) => Some(Self::Waits),
            (&Method::POST, ["waits", _]) => Some(Self::Wait),
            (&Method::GET, ["health" | "sessions" | "agents"] | ["agents", _, "models" | "modes"])
            | (&Method::GET, ["sessions", _] | ["sessions", _, "inputs"])
            | (&Method::POST, ["sessions", _] | ["sessions", _, "cancel" | "messages"])
            | (&Method::POST, ["sessions", _, "permissions" | "questions", _, "reject" | "reply"])
            | (&Method::PUT | &Method::DELETE, ["sessions", _, "inputs", _])
            | (&Method::DELETE, ["sessions", _]) => Some(Self::Other),
            _ => None,
        }
    }

    /// The answer, as the lens shows it.
    pub(super) async fn show(self, lens: &Arc<dyn Redactor>, response: Response) -> Result<Response> {
        let (head, body) = response.into_parts();
        let body = collect(body).await?;
        if body.is_empty() {
            return Ok(head.status.into_response());
        }
        let is_success = head.status.is_success();
        let shown = match self {
            Self::Events { whole } if is_success => told(&events(&**lens, read(&body)?, whole)),
            Self::Transcript if is_success => told(&transcript(&**lens, read(&body)?)),
            Self::Snapshot if is_success => {
                let snapshot: SessionSnapshot = read(&body)?;
                let mut look = lens.redact_stream();
                look.begin(&snapshot);
                told(&look.snapshot(snapshot))
            }
            Self::Waits if is_success => {
                let mut list: WaitList = read(&body)?;
                list.items = list.items.into_iter().filter_map(|wait| lens.wait(wait)).collect();
                told(&list)
            }
            Self::Wait if is_success => told(&lens.wait(read(&body)?).ok_or_else(unshown)?),
            _ => lens.value(read(&body)?),
        };
        let mut response = (head.status, Json(shown)).into_response();
        for name in [header::CONTENT_TYPE, header::RETRY_AFTER] {
            if let Some(value) = head.headers.get(&name) {
                response.headers_mut().insert(name, value.clone());
            }
        }
        Ok(response)
    }
}

fn events(lens: &dyn Redactor, mut page: EventPage, whole: bool) -> EventPage {
    let mut look = lens.redact_stream();
    // What goes on in a page that does not begin with the first event may have begun before it.
    if !whole {
        for (message, part) in lost(page.events.iter().map(|record| &record.event), &[]) {
            look.lose(&message, &part);
        }
    }
    for record in &mut page.events {
        if let Some(shown) = look.event(&record.event) {
            record.event = shown;
        }
        // What the agent said in its own words is of no known form.
        record.raw = None;
    }
    page
}

fn transcript(lens: &dyn Redactor, mut transcript: TranscriptPage) -> TranscriptPage {
    let mut look = lens.redact_stream();
    let mut show = |message: Message| match look.event(&Event::Message(message.clone())) {
        None => Some(message),
        Some(Event::Message(shown)) => Some(shown),
        Some(_) => None,
    };
    transcript.items = transcript.items.into_iter().filter_map(&mut show).collect();
    transcript
}

async fn collect(body: Body) -> Result<Bytes> {
    let mut body = body.into_data_stream();
    let mut whole = BytesMut::new();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| {
            ProblemResponse::new(
                ProblemKind::RuntimeUnavailable,
                "the runtime closed the connection during its answer",
            )
        })?;
        if whole.len() + piece.len() > ANSWER_BYTES_MAX {
            let detail = format!(
                "the answer is larger than {ANSWER_BYTES_MAX} bytes, so hidden paths cannot be removed from it"
            );
            return Err(ProblemResponse::new(ProblemKind::Forbidden, detail));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|_| unshown())
}

/// What was done is done, but what came of it is not told.
pub(in crate::routes) fn unshown() -> ProblemResponse {
    ProblemResponse::new(
        ProblemKind::Forbidden,
        "hidden paths cannot be removed from this answer, so it is withheld",
    )
}

fn told(shown: &impl serde::Serialize) -> Value {
    // A wire type always can be serialised.
    serde_json::to_value(shown).unwrap_or_default()
}

/// Whether a response to this request can be redacted. The path is the one after `v1`.
pub(in crate::routes) fn can_be_redacted(method: &Method, path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    Shape::of(method, &path, None).is_some()
}

/// What is told to whoever asks for what cannot be shown in part.
pub(super) fn refused() -> ProblemResponse {
    ProblemResponse::new(ProblemKind::Forbidden, REFUSED)
}

/// Whether the response to a request describes sessions, and with them their directories. The path is the one after `v1`.
pub(super) fn describes_sessions(method: &Method, path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    // The response to `HEAD` has no body.
    method != Method::HEAD && matches!(path[..], ["sessions"] | ["sessions", _] | ["sessions", _, "snapshot"])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// observation-68: what cannot be shown in part is not shown at all.
    #[test]
    fn what_is_not_known_is_refused() {
        let shape = |method: Method, path: &str| {
            let (path, query) =
                path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
            Shape::of(&method, &path.split('/').collect::<Vec<_>>(), query)
        };
        for path in ["sessions/s/events", "sessions/s/events?limit=5&offset=0"] {
            assert_eq!(shape(Method::GET, path), Some(Shape::Events { whole: true }), "{path}");
        }
        for path in ["sessions/s/events?offset=7", "sessions/s/events?%6fffset=7"] {
            assert_eq!(shape(Method::GET, path), Some(Shape::Events { whole: false }), "{path}");
        }
        for path in [
            "sessions/s/events/sse",
            "sessions/s/newer",
            "waits/events",
            "fs/file",
            "fs/entries",
            "acp",
            "acp/x",
            "processes/x/logs",
            "config/mcp",
            "workers/s/events/ws",
            "newer",
        ] {
            assert_eq!(shape(Method::GET, path), None, "{path}");
        }
        for path in ["acp/x", "fs/mkdir", "processes", "agents/x/install", "waits", "sessions/s/newer"] {
            assert_eq!(shape(Method::POST, path), None, "{path}");
        }
        for path in ["sessions/s", "sessions/s/messages", "sessions/s/permissions/p/reply"] {
            assert_eq!(shape(Method::POST, path), Some(Shape::Other), "{path}");
        }
        assert_eq!(shape(Method::GET, "waits"), Some(Shape::Waits));
        assert_eq!(shape(Method::POST, "waits/w"), Some(Shape::Wait));
    }
}
