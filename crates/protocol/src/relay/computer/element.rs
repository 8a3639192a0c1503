//! The accessibility tree of a snapshot, stored as an artifact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScreenRegion;

/// An element of the accessibility tree, with its children.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccessibilityElement {
    /// Identifies the element within its snapshot.
    pub id: String,
    /// Role of the element, such as `button`.
    pub role: String,
    /// Title of the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Label next to the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Value of the element, such as its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Purpose of the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Position and size, in screenshot pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<ScreenRegion>,
    /// Whether the element accepts input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether the element has the keyboard focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focused: Option<bool>,
    /// Whether it is selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<bool>,
    /// Actions that the element supports.
    #[serde(default)]
    pub actions: Vec<String>,
    /// Present if an action on the element should need approval, with the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<SensitiveSurface>,
    /// Child elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Self>,
}

/// Marks an element as sensitive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensitiveSurface {
    /// Category of the sensitive surface.
    pub surface: SurfaceKind,
    /// Confidence of the classification, from 0 to 1.
    pub confidence: f64,
    /// Explanation of the classification.
    pub reason: String,
}

/// Categories of sensitive surfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SurfaceKind {
    /// A field for a password or another credential.
    CredentialField,
    /// A payment.
    Payment,
    /// Settings of the operating system.
    SystemSettings,
    /// A dialog for choosing files.
    FileDialog,
    /// An application that the owner marked as private.
    PrivateApp,
    /// An action that destroys data.
    DestructiveAction,
    /// A message to other people.
    ExternalCommunication,
}
