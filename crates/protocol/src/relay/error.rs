//! Why a request came to nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::json_object::JsonObject;

/// Why a request came to nothing. It never holds a path of the host, a token or a value of the environment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct RelayError {
    /// What kind of failure.
    pub code: Code,
    /// For people and models.
    pub message: String,
    /// Whether trying otherwise can help.
    pub recoverable: bool,
    /// More for programs: ids and limits.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Every kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The request makes no sense.
    InvalidRequest,
    /// There is no such method.
    UnknownMethod,
    /// What it needs was not accepted, or is not there now.
    CapabilityUnavailable,
    /// The grant does not allow it.
    PermissionDenied,
    /// Somebody would have to approve it, and nobody can.
    ApprovalRequired,
    /// A policy forbids it.
    PolicyBlocked,
    /// There is no such thing.
    NotFound,
    /// It took too long.
    Timeout,
    /// It was cancelled.
    Cancelled,
    /// The provider failed.
    ProviderError,
    /// The connection was lost.
    RelayDisconnected,
    /// An artifact could not be stored.
    ArtifactError,
}

impl RelayError {
    /// A failure without details; trying otherwise can help unless the code says that it cannot.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let recoverable = code.is_recoverable();
        Self { code, message: message.into(), recoverable, details: Map::new() }
    }

    /// The same, with one detail more.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    /// Whether nobody can tell that what was to end has ended.
    pub fn is_lost(&self) -> bool {
        self.details.get("lost").is_some_and(|lost| *lost == true)
    }
}

impl Code {
    /// Every code.
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

    /// Its name.
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

    /// Whether trying otherwise usually helps.
    fn is_recoverable(self) -> bool {
        !matches!(self, Self::UnknownMethod | Self::CapabilityUnavailable | Self::PolicyBlocked)
    }
}

/// A failure as a peer says it, which may know more kinds.
#[derive(Deserialize)]
struct Said {
    code: String,
    message: Option<String>,
    #[serde(default)]
    recoverable: bool,
    details: Option<Map<String, Value>>,
}

impl<'de> Deserialize<'de> for RelayError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonObject::deserialize(deserializer).map(|JsonObject(said): JsonObject<Said>| said.into())
    }
}

/// A kind that is not known is a failure of the provider, and its name is kept in `details.code`.
impl From<Said> for RelayError {
    fn from(Said { code, message, recoverable, details }: Said) -> Self {
        let mut details = details.unwrap_or_default();
        let known = Code::ALL.into_iter().find(|known| known.as_str() == code);
        if known.is_none() {
            details.insert("code".into(), code.into());
        }
        Self {
            code: known.unwrap_or(Code::ProviderError),
            message: message.unwrap_or_default(),
            recoverable,
            details,
        }
    }
}
