//! `computer.act`: actions on the desktop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{DesktopSnapshot, DesktopWindow};

/// Parameters of `computer.act`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerformAction {
    /// The action.
    pub action: DesktopAction,
}

/// An action on the desktop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopAction {
    /// Kind of action.
    pub kind: ActionKind,
    /// The target of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<ActionTarget>,
    /// Input of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<ActionInput>,
    /// Options of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<ActionOptions>,
}

/// Kind of action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ActionKind {
    Click,
    DoubleClick,
    RightClick,
    Drag,
    Scroll,
    TypeText,
    PressKey,
    Hotkey,
    FocusApp,
    FocusWindow,
    SelectMenu,
    SetValue,
    Wait,
    OpenApp,
    CloseWindow,
}

/// The target of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ActionTarget {
    /// An element of the accessibility tree.
    Element {
        /// The element.
        #[serde(rename = "ref")]
        element: ElementRef,
    },
    /// A position, in screenshot pixels.
    Coordinate {
        /// Distance from the left edge.
        x: f64,
        /// Distance from the upper edge.
        y: f64,
        /// The display.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_id: Option<String>,
        /// The snapshot whose screenshot the position refers to.
        #[serde(skip_serializing_if = "Option::is_none")]
        snapshot_id: Option<String>,
    },
    /// An application.
    App {
        /// Name of the application.
        app_name: String,
    },
    /// A window.
    Window(DesktopWindow),
    /// A menu item.
    MenuItem {
        /// Titles from the menu down to the item.
        path: Vec<String>,
    },
}

/// Refers to an element of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ElementRef {
    /// The snapshot.
    pub snapshot_id: String,
    /// The element.
    pub element_id: String,
}

/// Input of an action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionInput {
    /// Text to type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Keys to press.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// Scroll distance to the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_x: Option<f64>,
    /// Scroll distance down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_y: Option<f64>,
    /// Where a drag ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drag_to: Option<ActionTarget>,
    /// Duration of a wait, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Value to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Options of an action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionOptions {
    /// Preferred way of acting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_strategy: Option<StrategyPreference>,
    /// Fail if the screen has changed since the snapshot.
    #[serde(default)]
    pub require_fresh_snapshot: bool,
    /// Delay after the action, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_after_ms: Option<u64>,
    /// Check the action without performing it.
    #[serde(default)]
    pub dry_run: bool,
}

/// Preferred way of acting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyPreference {
    /// Through the accessibility interface.
    Semantic,
    /// By pointer and keyboard input at a position.
    Coordinate,
    /// Through the accessibility interface where possible, otherwise at a position.
    #[default]
    Auto,
}

/// Result of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionResult {
    /// Identifies the action.
    pub action_id: String,
    /// Outcome.
    pub status: ActionStatus,
    /// The provider that handled the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// How the action was performed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ActionExecution>,
    /// The snapshot that the action was based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_snapshot_id: Option<String>,
    /// Snapshot taken after the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_snapshot: Option<DesktopSnapshot>,
    /// Ids of artifacts that the action produced.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// Error of an action that was not performed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ActionError>,
    /// Details of the policy decision.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub policy: Map<String, Value>,
    /// Summary in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Outcome of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    /// The action was performed.
    Succeeded,
    /// The action failed.
    Failed,
    /// A policy forbids the action.
    Blocked,
    /// A user must approve the action first.
    RequiresApproval,
}

/// How an action was performed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionExecution {
    /// The way of acting.
    pub strategy: ActionStrategy,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Problems that did not prevent the action.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The way in which an action was performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionStrategy {
    /// Through the accessibility interface.
    Accessibility,
    /// By pointer and keyboard input at a position.
    Coordinate,
    /// By a combination of both.
    Hybrid,
}

/// Error of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionError {
    /// Error code.
    pub code: ActionErrorCode,
    /// Message for users and models.
    pub message: String,
    /// Whether the caller can recover by trying something else.
    pub recoverable: bool,
}

/// Error codes of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionErrorCode {
    /// A permission of the operating system is missing.
    PermissionMissing,
    /// The target does not exist.
    TargetNotFound,
    /// The screen has changed since the snapshot.
    TargetStale,
    /// The application is not available.
    AppUnavailable,
    /// A policy forbids the action.
    PolicyBlocked,
    /// The owner paused desktop control.
    UserPaused,
    /// The provider failed, or returned a code that this version does not know.
    #[serde(other)]
    ProviderError,
}
