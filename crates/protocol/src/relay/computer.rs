//! `computer.*`: desktop control.

mod action;
mod element;
mod snapshot;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use action::{
    ActionError, ActionErrorCode, ActionExecution, ActionInput, ActionKind, ActionOptions, ActionResult,
    ActionStatus, ActionStrategy, ActionTarget, DesktopAction, ElementRef, PerformAction, StrategyPreference,
};
pub use element::{AccessibilityElement, SensitiveSurface, SurfaceKind};
pub use snapshot::{
    DesktopApp, DesktopSnapshot, DesktopWindow, PointerPosition, RedactionLevel, ScreenRegion, Screenshot,
    SnapshotTarget, TakeSnapshot,
};

/// State of the desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopStatus {
    /// Whether the desktop is available, and who controls it.
    pub state: DesktopControl,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// Permissions of the operating system that desktop control needs.
    #[serde(default)]
    pub permissions: Vec<DesktopPermission>,
    /// Name of the foreground application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_app: Option<String>,
    /// Title of the foreground window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_window: Option<String>,
}

/// A permission that the operating system requests from the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DesktopPermission {
    /// Name of the permission, such as `screen`.
    pub name: String,
    /// `granted`, or the reason why it is missing.
    pub state: String,
}

/// Whether the desktop is available, and who controls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DesktopControl {
    /// Available and idle.
    Ready,
    /// Disabled by the owner.
    Disabled,
    /// A permission of the operating system is missing.
    PermissionRequired,
    /// Not available yet.
    Starting,
    /// An agent controls the desktop.
    Active,
    /// Paused.
    Paused,
    /// The owner controls the desktop.
    UserTakeover,
    /// Failed, or in a state that this version does not know.
    #[serde(other)]
    Errored,
}

/// Parameters of `computer.pause`, `computer.resume`, `computer.takeover` and `computer.release`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeControl {
    /// Reason for the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// New state of the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlState {
    /// Whether the desktop is available, and who controls it.
    pub state: DesktopControl,
}
