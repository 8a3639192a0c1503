//! `computer.see`: snapshots of the desktop.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `computer.see`: takes a snapshot of the desktop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TakeSnapshot {
    /// Part of the desktop.
    pub target: SnapshotTarget,
    /// Include a screenshot.
    #[serde(default)]
    pub include_screenshot: bool,
    /// Include the accessibility tree.
    #[serde(default)]
    pub include_accessibility_tree: bool,
    /// Include the visible text.
    #[serde(default)]
    pub include_text: bool,
    /// Include the pointer position.
    #[serde(default)]
    pub include_cursor: bool,
    /// Maximum depth of the accessibility tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Maximum number of nodes in the accessibility tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_nodes: Option<u32>,
    /// How much of the content is redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redaction_policy: Option<RedactionLevel>,
}

/// Part of the desktop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SnapshotTarget {
    /// A display.
    Display {
        /// The display; the first by default.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_id: Option<String>,
    },
    /// The windows of an application.
    App {
        /// Name of the application.
        app_name: String,
    },
    /// A window.
    Window(DesktopWindow),
    /// A rectangle of a display.
    Region {
        /// The display; the first by default.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_id: Option<String>,
        /// The rectangle.
        rect: ScreenRegion,
    },
}

/// How much of the content is redacted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RedactionLevel {
    /// As the owner of the device configured it.
    #[default]
    Default,
    /// More than by default.
    Strict,
    /// Nothing.
    Off,
}

/// A rectangle, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenRegion {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// An application with windows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopApp {
    /// Name of the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_name: Option<String>,
}

/// Identifies a window. One of the fields is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopWindow {
    /// Id of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_id: Option<String>,
    /// Name of its application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_name: Option<String>,
    /// Title of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A snapshot of the desktop. Element ids are valid only within it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopSnapshot {
    /// Identifies the snapshot.
    pub snapshot_id: String,
    /// The provider that took the snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Time of the snapshot.
    pub created_at: Timestamp,
    /// The captured part of the desktop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<SnapshotTarget>,
    /// The screenshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<Screenshot>,
    /// The artifact with the accessibility tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accessibility_tree_artifact_id: Option<String>,
    /// The foreground application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_app: Option<DesktopApp>,
    /// The foreground window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_window: Option<DesktopWindow>,
    /// Pointer position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PointerPosition>,
    /// Problems that did not prevent the snapshot.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Summary in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Pointer position, in screenshot pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointerPosition {
    /// Distance from the left edge.
    pub x: f64,
    /// Distance from the upper edge.
    pub y: f64,
}

/// A screenshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Screenshot {
    /// The artifact with the image.
    pub artifact_id: String,
    /// MIME type of the image.
    pub mime_type: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Device pixels per screenshot pixel.
    pub scale_factor: f64,
}
