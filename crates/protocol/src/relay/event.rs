//! Events on a relay connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Family, RawJson, RelayAccepted,
    artifact::ArtifactUploaded,
    file::WatchedChange,
    tool::{ToolList, UnregisterTools},
};

/// An event. It has no response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventFrame {
    /// Event name, such as `relay.accepted`.
    pub event: String,
    /// Details of the event.
    #[serde(default = "RawJson::empty")]
    pub payload: RawJson,
}

/// Declares the events, each with its name and payload.
macro_rules! events {
    ($($(#[$doc:meta])* $event:ident($payload:ty) = $name:literal;)*) => {
        /// The known events.
        #[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "event", content = "payload")]
        pub enum RelayEvent {$(
            $(#[$doc])*
            #[serde(rename = $name)]
            $event($payload),
        )*}

        impl RelayEvent {
            /// The names of all events.
            pub const NAMES: &'static [&'static str] = &[$($name),*];
        }

        impl EventFrame {
            /// Parses the payload. Returns `None` for an unknown event, which is not an error.
            ///
            /// # Errors
            /// Fails if the payload does not fit the event.
            pub fn read(&self) -> serde_json::Result<Option<RelayEvent>> {
                match self.event.as_str() {
                    $($name => self.payload.object().map(|payload| Some(RelayEvent::$event(payload))),)*
                    _ => Ok(None),
                }
            }
        }

        impl From<&RelayEvent> for EventFrame {
            fn from(event: &RelayEvent) -> Self {
                match event {
                    $(RelayEvent::$event(payload) => Self { event: $name.into(), payload: RawJson::from_value(payload) },)*
                }
            }
        }
    };
}

events! {
    /// The relay server accepted the hello.
    Accepted(RelayAccepted) = "relay.accepted";
    /// The state of a capability family changed.
    CapabilityUpdated(CapabilityUpdated) = "capability.updated";
    /// A provider stopped accepting new requests.
    ProviderPaused(ProviderPauseChanged) = "provider.paused";
    /// A provider accepts requests again.
    ProviderResumed(ProviderPauseChanged) = "provider.resumed";
    /// An artifact is available.
    ArtifactUploaded(ArtifactUploaded) = "artifact.uploaded";
    /// Tools were registered.
    ToolRegistered(ToolList) = "tool.registered";
    /// Tools were unregistered.
    ToolUnregistered(UnregisterTools) = "tool.unregistered";
    /// A resource changed.
    ResourceUpdated(ResourceUpdated) = "resource.updated";
    /// A reader can receive more of a stream. An addition to the requirement document: sent only to a peer that
    /// announced a `flow`.
    StreamCredit(StreamCredit) = "stream.credit";
}

/// The state of a capability family changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityUpdated {
    /// The family.
    pub capability: Family,
    /// The new state.
    pub state: Availability,
}

/// State of a capability family or a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// Starting.
    Starting,
    /// Available.
    Online,
    /// Unavailable.
    Offline,
    /// Paused.
    Paused,
    /// Available with restrictions.
    Degraded,
    /// Waiting for a permission.
    PermissionRequired,
    /// Access was revoked.
    Revoked,
    /// Failed.
    Error,
    /// A state that this version does not know. Treated as unavailable.
    #[serde(other)]
    Unknown,
}

impl Availability {
    /// Whether requests are accepted in this state.
    pub fn is_available(self) -> bool {
        matches!(self, Self::Online | Self::Degraded)
    }
}

/// A provider was paused or resumed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderPauseChanged {
    /// Reason for the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A resource changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceUpdated {
    /// The resource.
    pub resource_id: String,
    /// The new state, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Availability>,
    /// The file change, if the resource is a watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<WatchedChange>,
}

/// Additional credit for a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamCredit {
    /// The request that the stream belongs to.
    pub id: String,
    /// Additional bytes of stream messages that the peer may send. Each message counts with its full length.
    pub bytes: u64,
}
