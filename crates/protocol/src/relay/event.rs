//! What happens on a connection without being asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Accepted, Family, Json,
    artifact::Uploaded,
    file::Change,
    tool::{ToolList, Unregistration},
};

/// Something happened; nobody answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventFrame {
    /// What, such as `relay.accepted`.
    pub event: String,
    /// More about it.
    #[serde(default = "Json::empty")]
    pub payload: Json,
}

/// Declares the events: name and payload.
macro_rules! events {
    ($($(#[$doc:meta])* $event:ident($payload:ty) = $name:literal;)*) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "event", content = "payload")]
        pub enum Event {$(
            $(#[$doc])*
            #[serde(rename = $name)]
            $event($payload),
        )*}

        impl Event {
            /// The name of every event.
            pub const NAMES: &'static [&'static str] = &[$($name),*];
        }

        impl EventFrame {
            /// What happened; none if there is no such event here, which is no fault.
            ///
            /// # Errors
            /// If the payload is not that of the event.
            pub fn read(&self) -> serde_json::Result<Option<Event>> {
                match self.event.as_str() {
                    $($name => self.payload.object().map(|payload| Some(Event::$event(payload))),)*
                    _ => Ok(None),
                }
            }
        }

        impl From<&Event> for EventFrame {
            fn from(event: &Event) -> Self {
                match event {
                    $(Event::$event(payload) => Self { event: $name.into(), payload: Json::of(payload) },)*
                }
            }
        }
    };
}

events! {
    /// The hello was accepted.
    Accepted(Accepted) = "relay.accepted";
    /// A family is there, or not any more.
    CapabilityUpdated(CapabilityUpdated) = "capability.updated";
    /// Nothing new is done for now.
    ProviderPaused(Pause) = "provider.paused";
    /// It is again.
    ProviderResumed(Pause) = "provider.resumed";
    /// An artifact can be had.
    ArtifactUploaded(Uploaded) = "artifact.uploaded";
    /// There are new tools.
    ToolRegistered(ToolList) = "tool.registered";
    /// Tools are gone.
    ToolUnregistered(Unregistration) = "tool.unregistered";
    /// A resource has changed.
    ResourceUpdated(ResourceUpdated) = "resource.updated";
    /// More of a stream can be taken. Not of the document: said only to a peer that announced a `flow`.
    StreamCredit(Credit) = "stream.credit";
}

/// A family is there, or not any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityUpdated {
    /// Which.
    pub capability: Family,
    /// How it is now.
    pub state: State,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RelayState")]
pub enum State {
    /// Soon there.
    Starting,
    /// There.
    Online,
    /// Not there.
    Offline,
    /// Stopped for a while.
    Paused,
    /// There, but not all of it.
    Degraded,
    /// Somebody must allow it first.
    PermissionRequired,
    /// No longer allowed.
    Revoked,
    /// Broken.
    Error,
    /// Something that this version does not know, so it is not there.
    #[serde(other)]
    Unknown,
}

impl State {
    /// Whether it can be used.
    pub fn is_available(self) -> bool {
        matches!(self, Self::Online | Self::Degraded)
    }
}

/// A provider was paused or resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pause {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A resource has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceUpdated {
    /// Which.
    pub resource_id: String,
    /// How it is now, if that has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// What changed on the disk, if it is a watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// More of a stream can be taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Credit {
    /// The request.
    pub id: String,
    /// Bytes of stream messages, each counted whole, on top of what could be sent before.
    pub bytes: u64,
}
