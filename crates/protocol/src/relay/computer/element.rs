//! What is on the screen, as a tree: the content of an artifact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Region;

/// An element of a snapshot, with those in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Element {
    /// Its name within the snapshot.
    pub id: String,
    /// What it is, such as `button`.
    pub role: String,
    /// What is written above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is written beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is written in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where it is, in pixels of the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Region>,
    /// Whether it can be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether keys go to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focused: Option<bool>,
    /// Whether it is selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<bool>,
    /// What can be done to it.
    #[serde(default)]
    pub actions: Vec<String>,
    /// Why somebody should be asked before it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<Sensitive>,
    /// What is in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Self>,
}

/// That something on the screen is sensitive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sensitive {
    /// In which way.
    pub surface: Surface,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Why.
    pub reason: String,
}

/// In which way something on the screen is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// A password is typed there.
    CredentialField,
    /// Money is spent there.
    Payment,
    /// The system is changed there.
    SystemSettings,
    /// Files are chosen there.
    FileDialog,
    /// The owner keeps it for themselves.
    PrivateApp,
    /// Something is lost.
    DestructiveAction,
    /// Others read it.
    ExternalCommunication,
}
