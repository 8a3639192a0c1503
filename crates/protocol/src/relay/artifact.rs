//! `artifact.*`: files for the artifact store of the runtime.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Sha256;

/// Parameters of `artifact.reserve`: reserves space in the artifact store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReserveArtifact {
    /// The run that the artifact belongs to.
    pub run_id: String,
    /// Kind of artifact, such as `screenshot`.
    pub kind: String,
    /// MIME type of the content.
    pub mime_type: String,
    /// Further properties, free-form.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// A reserved upload.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReservation {
    /// Identifies the artifact.
    pub artifact_id: String,
    /// URL to which the content is uploaded.
    pub upload_url: String,
    /// Headers for the upload request. One of them holds a secret token.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for ArtifactReservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArtifactReservation").field("artifact_id", &self.artifact_id).finish_non_exhaustive()
    }
}

/// Parameters of `artifact.upload`: uploads a part of a small artifact over the relay connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UploadArtifact {
    /// Identifies the artifact.
    pub artifact_id: String,
    /// Position of the first byte in the artifact.
    pub offset: u64,
    /// The bytes in base64.
    pub data: String,
    /// Whether this is the last part.
    #[serde(default)]
    pub last: bool,
}

/// Upload progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UploadProgress {
    /// Number of bytes received so far.
    pub received_bytes: u64,
}

/// Parameters of `artifact.complete`: completes an upload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompleteArtifact {
    /// Identifies the artifact.
    pub artifact_id: String,
    /// Size of the content in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the content.
    pub sha256: Sha256,
}

/// Parameters of `artifact.abort`: aborts an upload and frees the reservation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbortArtifact {
    /// Identifies the artifact.
    pub artifact_id: String,
    /// Reason for aborting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Payload of the event `artifact.uploaded`: an artifact is available.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactUploaded {
    /// Identifies the artifact.
    pub artifact_id: String,
    /// The run that the artifact belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Kind of artifact, such as `screenshot`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// MIME type of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Size of the content in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// SHA-256 of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
}
