//! Errors of relay requests.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::json_object::JsonObject;

/// Error of a relay request. It never contains host paths, tokens or values of environment variables.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct RelayError {
    /// Error code.
    pub code: RelayErrorCode,
    /// Message for users and models.
    pub message: String,
    /// Whether the caller can recover by trying something else.
    pub recoverable: bool,
    /// Details for programs, such as ids and limits.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Error codes of relay requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelayErrorCode {
    /// The request is invalid.
    InvalidRequest,
    /// The method does not exist.
    UnknownMethod,
    /// The capability was not accepted, or is currently unavailable.
    CapabilityUnavailable,
    /// The grant does not allow the request.
    PermissionDenied,
    /// The request needs an approval that was not given.
    ApprovalRequired,
    /// A policy forbids the request.
    PolicyBlocked,
    /// The requested object does not exist.
    NotFound,
    /// The request took too long.
    Timeout,
    /// The request was cancelled.
    Cancelled,
    /// The provider failed.
    ProviderError,
    /// The connection was lost.
    RelayDisconnected,
    /// An artifact could not be stored.
    ArtifactError,
}

impl RelayError {
    /// Creates an error without details. Its code determines whether it is recoverable.
    pub fn new(code: RelayErrorCode, message: impl Into<String>) -> Self {
        let recoverable = code.is_recoverable();
        Self { code, message: message.into(), recoverable, details: Map::new() }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    /// Whether it is unknown if the cancelled work has stopped.
    pub fn is_lost(&self) -> bool {
        self.details.get("lost").is_some_and(|lost| *lost == true)
    }
}

impl RelayErrorCode {
    /// All codes.
    pub const ALL: [Self; 12] = [
        Self::InvalidRequest,
        Self::UnknownMethod,
        Self::CapabilityUnavailable,
        Self::PermissionDenied,
        Self::ApprovalRequired,
        Self::PolicyBlocked,
        Self::NotFound,
        Self::Timeout,
        Self::Cancelled,
        Self::ProviderError,
        Self::RelayDisconnected,
        Self::ArtifactError,
    ];

    /// Name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::UnknownMethod => "unknown_method",
            Self::CapabilityUnavailable => "capability_unavailable",
            Self::PermissionDenied => "permission_denied",
            Self::ApprovalRequired => "approval_required",
            Self::PolicyBlocked => "policy_blocked",
            Self::NotFound => "not_found",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::ProviderError => "provider_error",
            Self::RelayDisconnected => "relay_disconnected",
            Self::ArtifactError => "artifact_error",
        }
    }

    /// Whether callers can usually recover by trying something else.
    fn is_recoverable(self) -> bool {
        !matches!(self, Self::UnknownMethod | Self::CapabilityUnavailable | Self::PolicyBlocked)
    }
}

/// An error as the peer sent it, possibly with a code that this version does not know.
#[derive(Deserialize)]
struct WireError {
    code: String,
    message: Option<String>,
    #[serde(default)]
    recoverable: bool,
    details: Option<Map<String, Value>>,
}

impl<'de> Deserialize<'de> for RelayError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonObject::deserialize(deserializer).map(|JsonObject(error): JsonObject<WireError>| error.into())
    }
}

/// Maps an unknown code to `provider_error` and preserves it in `details.code`.
impl From<WireError> for RelayError {
    fn from(WireError { code, message, recoverable, details }: WireError) -> Self {
        let mut details = details.unwrap_or_default();
        let known = RelayErrorCode::ALL.into_iter().find(|known| known.as_str() == code);
        if known.is_none() {
            details.insert("code".into(), code.into());
        }
        Self {
            code: known.unwrap_or(RelayErrorCode::ProviderError),
            message: message.unwrap_or_default(),
            recoverable,
            details,
        }
    }
}
