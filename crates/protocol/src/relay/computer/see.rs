//! `computer.see`: what is on the screen.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Looks at the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct See {
    /// At what of it.
    pub target: SeeTarget,
    /// Whether a picture is wanted.
    #[serde(default)]
    pub include_screenshot: bool,
    /// Whether the tree of what is on it is wanted.
    #[serde(default)]
    pub include_accessibility_tree: bool,
    /// Whether its text is wanted.
    #[serde(default)]
    pub include_text: bool,
    /// Whether the place of the pointer is wanted.
    #[serde(default)]
    pub include_cursor: bool,
    /// How deep the tree may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// How many nodes it may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_nodes: Option<u32>,
    /// How much is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redaction_policy: Option<Redaction>,
}

/// A part of the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SeeTarget {
    /// A display.
    Display {
        /// Which; the first if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_id: Option<String>,
    },
    /// A program.
    App {
        /// Which.
        app_name: String,
    },
    /// A window.
    Window(Window),
    /// A part of a display.
    Region {
        /// Which display; the first if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_id: Option<String>,
        /// Which part.
        rect: Region,
    },
}

/// How much of the screen is hidden.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Redaction {
    /// What its owner chose.
    #[default]
    Default,
    /// More.
    Strict,
    /// Nothing.
    Off,
}

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Region {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// A program that has windows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct App {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_name: Option<String>,
}

/// A window: one of these is enough to find it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_id: Option<String>,
    /// Its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_name: Option<String>,
    /// What is written above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// What was on the screen. Ids of elements hold within it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Its name.
    pub snapshot_id: String,
    /// Who took it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// Of what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<SeeTarget>,
    /// The picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<Screenshot>,
    /// The artifact that holds the tree of elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accessibility_tree_artifact_id: Option<String>,
    /// The program in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_app: Option<App>,
    /// The window in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_window: Option<Window>,
    /// Where the pointer is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// What did not work.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// All of it in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Where the pointer is, in pixels of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cursor {
    /// From the left.
    pub x: f64,
    /// From above.
    pub y: f64,
}

/// A picture of the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Screenshot {
    /// The artifact.
    pub artifact_id: String,
    /// What its bytes are.
    pub mime_type: String,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// How many pixels of the device are one of it.
    pub scale_factor: f64,
}
