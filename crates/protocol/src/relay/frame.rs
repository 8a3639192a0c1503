//! The eight kinds of frames.

use std::fmt;

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeOwned, IgnoredAny, MapAccess, Visitor},
};

use super::{Beat, Cancel, EventFrame, Hello, Request, Response, StreamFrame, fault};

/// The longest id, in bytes: whatever is answered with it fits in a message.
const ID_BYTES_MAX: usize = 256;

/// What either end of a connection says, one in each message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Frame {
    /// The first frame of a device: who it is and what it offers.
    Hello(Hello),
    /// Something happened; nobody answers.
    Event(EventFrame),
    /// Something is asked.
    Request(Request),
    /// What came of a request; nothing follows for its id.
    Response(Response),
    /// Something on the way to the response.
    Stream(StreamFrame),
    /// The request is no longer wanted.
    Cancel(Cancel),
    /// Whether the peer is there.
    Ping(Beat),
    /// It is: the same id and time.
    Pong(Beat),
}

/// What is no frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// Why, without any value that was said.
    pub reason: String,
    /// The id of the request that it was meant to be, if that can be seen.
    pub request: Option<String>,
}

impl Frame {
    /// Reads a message. The params, results, data and payloads in it are not looked at.
    ///
    /// # Errors
    /// If it is no frame.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        let frame = match kind(text)?.as_str() {
            "hello" => fields(text).map(Frame::Hello),
            "event" => fields(text).map(Frame::Event),
            "request" => {
                fields(text).map(Frame::Request).map_err(|why| Malformed { request: id(text), ..why })
            }
            "response" => fields(text).map(Frame::Response),
            "stream" => fields(text).map(Frame::Stream),
            "cancel" => fields(text).map(Frame::Cancel),
            "ping" => fields(text).map(Frame::Ping),
            "pong" => fields(text).map(Frame::Pong),
            _ => Err(Malformed { reason: "there is no such `type` of frame".into(), request: None }),
        }?;
        match frame.id() {
            Some(id) if id.len() > ID_BYTES_MAX => {
                Err(Malformed { reason: format!("an `id` has at most {ID_BYTES_MAX} bytes"), request: None })
            }
            _ => Ok(frame),
        }
    }

    /// The id of the request, or of the question whether the peer is there.
    fn id(&self) -> Option<&str> {
        match self {
            Self::Hello(_) | Self::Event(_) => None,
            Self::Request(Request { id, .. })
            | Self::Response(Response { id, .. })
            | Self::Stream(StreamFrame { id, .. })
            | Self::Cancel(Cancel { id, .. })
            | Self::Ping(Beat { id, .. })
            | Self::Pong(Beat { id, .. }) => Some(id),
        }
    }

    /// Writes it as a message.
    pub fn write(&self) -> String {
        // A wire type always can be serialised.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The kind of a frame, which is an object. It usually comes first, so that the rest is read only once.
fn kind(text: &str) -> Result<String, Malformed> {
    let mut found = None;
    let sought = serde_json::Deserializer::from_str(text).deserialize_map(Seek(&mut found));
    match (found, sought) {
        // What is found ends the search, which is an error for serde.
        (Some(kind), _) => Ok(kind),
        (None, Err(error)) => Err(malformed(&error)),
        (None, Ok(())) => Err(Malformed { reason: "a frame has a `type`".into(), request: None }),
    }
}

struct Seek<'a>(&'a mut Option<String>);

impl<'de> Visitor<'de> for Seek<'_> {
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

/// The id of what was meant to be a request, if it can be answered.
fn id(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        id: String,
    }
    fields(text).ok().map(|named: Named| named.id).filter(|id| id.len() <= ID_BYTES_MAX)
}

fn fields<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    serde_json::from_str(text).map_err(|error| malformed(&error))
}

fn malformed(error: &serde_json::Error) -> Malformed {
    Malformed { reason: fault::of(error), request: None }
}
