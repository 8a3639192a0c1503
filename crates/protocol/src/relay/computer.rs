//! `computer.*`: the desktop (appendix C).

mod act;
mod element;
mod see;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use act::{
    Act, ActCode, ActFault, ActInput, ActOptions, ActResult, ActStatus, ActTarget, Action, ActionKind,
    ElementRef, Execution, Preference, Strategy,
};
pub use element::{Element, Sensitive, Surface};
pub use see::{App, Cursor, Redaction, Region, Screenshot, See, SeeTarget, Snapshot, Window};

/// How the desktop is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputerStatus {
    /// Whether it can be used.
    pub state: Control,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// What its owner allowed.
    #[serde(default)]
    pub permissions: Vec<Permission>,
    /// The program in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_app: Option<String>,
    /// The window in front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_window: Option<String>,
}

/// Something that the system asks the owner for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Permission {
    /// What, such as `screen`.
    pub name: String,
    /// `granted` or why not.
    pub state: String,
}

/// Who controls the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Nobody; it can be used.
    Ready,
    /// It is off.
    Disabled,
    /// The system's permission is missing.
    PermissionRequired,
    /// Nobody yet.
    Starting,
    /// The agent.
    Active,
    /// Nobody for a while.
    Paused,
    /// Its owner.
    UserTakeover,
    /// It is broken, or something that this version does not know.
    #[serde(other)]
    Errored,
}

/// Pauses, resumes, takes over or releases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetControl {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Who controls the desktop now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ControlState {
    /// Who.
    pub state: Control,
}
