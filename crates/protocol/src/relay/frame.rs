//! The eight kinds of frames.

use std::fmt;

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeOwned, IgnoredAny, MapAccess, Visitor},
};

use super::{CancelFrame, EventFrame, Hello, PingFrame, Request, Response, StreamFrame, parse_error};

/// Maximum length of an id in bytes, so that a response that repeats it always fits in a message.
const ID_BYTES_MAX: usize = 256;

/// One message of a relay connection, in either direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Frame {
    /// The first frame of a device: its identity and the capabilities that it offers.
    Hello(Hello),
    /// An event. It has no response.
    Event(EventFrame),
    /// A request.
    Request(Request),
    /// The outcome of a request, and the last frame for its id.
    Response(Response),
    /// Partial output or progress of a request, sent before its response.
    Stream(StreamFrame),
    /// Cancels a request.
    Cancel(CancelFrame),
    /// Checks that the peer is alive.
    Ping(PingFrame),
    /// Answers a ping with the same id and time.
    Pong(PingFrame),
}

/// A message that is not a valid frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct MalformedFrame {
    /// Description of the error. It does not repeat received values, which may be secrets.
    pub reason: String,
    /// Id of the request that the message was meant to be, if it can be determined. The reader can answer it with an
    /// error.
    pub request: Option<String>,
}

impl Frame {
    /// Parses a message. The params, results, data and payloads in it stay unparsed.
    ///
    /// # Errors
    /// Fails if the message is not a valid frame.
    pub fn read(text: &str) -> Result<Self, MalformedFrame> {
        let frame = match kind(text)?.as_str() {
            "hello" => fields(text).map(Frame::Hello),
            "event" => fields(text).map(Frame::Event),
            "request" => {
                fields(text).map(Frame::Request).map_err(|why| MalformedFrame { request: id(text), ..why })
            }
            "response" => fields(text).map(Frame::Response),
            "stream" => fields(text).map(Frame::Stream),
            "cancel" => fields(text).map(Frame::Cancel),
            "ping" => fields(text).map(Frame::Ping),
            "pong" => fields(text).map(Frame::Pong),
            _ => Err(MalformedFrame { reason: "there is no such `type` of frame".into(), request: None }),
        }?;
        match frame.id() {
            Some(id) if id.len() > ID_BYTES_MAX => Err(MalformedFrame {
                reason: format!("an `id` has at most {ID_BYTES_MAX} bytes"),
                request: None,
            }),
            _ => Ok(frame),
        }
    }

    /// Id of the request or the ping.
    fn id(&self) -> Option<&str> {
        match self {
            Self::Hello(_) | Self::Event(_) => None,
            Self::Request(Request { id, .. })
            | Self::Response(Response { id, .. })
            | Self::Stream(StreamFrame { id, .. })
            | Self::Cancel(CancelFrame { id, .. })
            | Self::Ping(PingFrame { id, .. })
            | Self::Pong(PingFrame { id, .. }) => Some(id),
        }
    }

    /// Serialises the frame.
    pub fn write(&self) -> String {
        // Serialising a wire type cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Finds the `type` of a frame without parsing the rest. Peers usually send it first, so the scan ends early and the
/// frame is parsed only once.
fn kind(text: &str) -> Result<String, MalformedFrame> {
    let mut found = None;
    let sought = serde_json::Deserializer::from_str(text).deserialize_map(TypeFinder(&mut found));
    match (found, sought) {
        // The visitor stops at the `type` by returning an error, so a value wins over the error.
        (Some(kind), _) => Ok(kind),
        (None, Err(error)) => Err(malformed(&error)),
        (None, Ok(())) => Err(MalformedFrame { reason: "a frame has a `type`".into(), request: None }),
    }
}

struct TypeFinder<'a>(&'a mut Option<String>);

impl<'de> Visitor<'de> for TypeFinder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if name == "type" {
                *self.0 = Some(map.next_value()?);
                return Err(de::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Finds the id of a malformed request, unless it is too long to be repeated in a response.
fn id(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct RequestIdField {
        id: String,
    }
    fields(text).ok().map(|request: RequestIdField| request.id).filter(|id| id.len() <= ID_BYTES_MAX)
}

fn fields<T: DeserializeOwned>(text: &str) -> Result<T, MalformedFrame> {
    serde_json::from_str(text).map_err(|error| malformed(&error))
}

fn malformed(error: &serde_json::Error) -> MalformedFrame {
    MalformedFrame { reason: parse_error::describe(error), request: None }
}
