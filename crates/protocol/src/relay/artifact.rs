//! `artifact.*`: files for the runtime's store.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Sha256;

/// Asks for a place in the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReserveArtifact {
    /// The run that it belongs to.
    pub run_id: String,
    /// What it is, such as `screenshot`.
    pub kind: String,
    /// What its bytes are.
    pub mime_type: String,
    /// More about it.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// A place in the store.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reservation {
    /// The artifact.
    pub artifact_id: String,
    /// Where its bytes are put.
    pub upload_url: String,
    /// With what; a secret is among them.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("artifact_id", &self.artifact_id).finish_non_exhaustive()
    }
}

/// Puts bytes of a small artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UploadArtifact {
    /// The artifact.
    pub artifact_id: String,
    /// The place of the first byte.
    pub offset: u64,
    /// The bytes in base64.
    pub data: String,
    /// Whether nothing comes after them.
    #[serde(default)]
    pub last: bool,
}

/// Bytes have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Received {
    /// How many there are by now.
    pub received_bytes: u64,
}

/// Says that all bytes of an artifact are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompleteArtifact {
    /// The artifact.
    pub artifact_id: String,
    /// How many.
    pub size_bytes: u64,
    /// Their hash.
    pub sha256: Sha256,
}

/// Gives the place back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbortArtifact {
    /// The artifact.
    pub artifact_id: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An artifact can be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Uploaded {
    /// The artifact.
    pub artifact_id: String,
    /// The run that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What its bytes are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// How many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Their hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
}
