//! `computer.act`: doing something on the screen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Snapshot, Window};

/// Does something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Act {
    /// What.
    pub action: Action,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// What.
    pub kind: ActionKind,
    /// To what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<ActTarget>,
    /// With what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<ActInput>,
    /// How.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<ActOptions>,
}

/// What is done.
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

/// To what something is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ActTarget {
    /// An element.
    Element {
        /// Which.
        #[serde(rename = "ref")]
        element: ElementRef,
    },
    /// A place, in pixels of the picture.
    Coordinate {
        /// From the left.
        x: f64,
        /// From above.
        y: f64,
        /// On which display.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_id: Option<String>,
        /// Of which snapshot.
        #[serde(skip_serializing_if = "Option::is_none")]
        snapshot_id: Option<String>,
    },
    /// A program.
    App {
        /// Which.
        app_name: String,
    },
    /// A window.
    Window(Window),
    /// An entry of a menu.
    MenuItem {
        /// The names from the menu to the entry.
        path: Vec<String>,
    },
}

/// An element of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ElementRef {
    /// The snapshot.
    pub snapshot_id: String,
    /// The element.
    pub element_id: String,
}

/// With what something is done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActInput {
    /// What is typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Which keys are pressed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// How far to the right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_x: Option<f64>,
    /// How far down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_y: Option<f64>,
    /// Where it is let go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drag_to: Option<ActTarget>,
    /// How long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// How something is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActOptions {
    /// In which way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred_strategy: Option<Preference>,
    /// Only if the screen is still as the snapshot shows it.
    #[serde(default)]
    pub require_fresh_snapshot: bool,
    /// How long to wait after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_after_ms: Option<u64>,
    /// Whether it is only tried out.
    #[serde(default)]
    pub dry_run: bool,
}

/// In which way something should be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// By asking the element.
    Semantic,
    /// By a place.
    Coordinate,
    /// By asking the element if it can be.
    #[default]
    Auto,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActResult {
    /// A name for it.
    pub action_id: String,
    /// Whether it was done.
    pub status: ActStatus,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// How it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// The snapshot that it was based on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_snapshot_id: Option<String>,
    /// What was on the screen then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_snapshot: Option<Snapshot>,
    /// Ids of artifacts that came of it.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// Why it was not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ActFault>,
    /// What the policy says of it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub policy: Map<String, Value>,
    /// All of it in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Whether something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActStatus {
    /// It was.
    Succeeded,
    /// It did not work.
    Failed,
    /// A policy forbids it.
    Blocked,
    /// Somebody must allow it first.
    RequiresApproval,
}

/// How something was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    /// In which way.
    pub strategy: Strategy,
    /// How long it took.
    pub duration_ms: u64,
    /// What did not work.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// In which way something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// By asking the element.
    Accessibility,
    /// By a place.
    Coordinate,
    /// By both.
    Hybrid,
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActFault {
    /// What kind of failure.
    pub code: ActCode,
    /// For people and models.
    pub message: String,
    /// Whether trying otherwise can help.
    pub recoverable: bool,
}

/// Why something was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActCode {
    /// The system's permission is missing.
    PermissionMissing,
    /// There is no such element.
    TargetNotFound,
    /// The screen has changed.
    TargetStale,
    /// The program is not there.
    AppUnavailable,
    /// A policy forbids it.
    PolicyBlocked,
    /// The owner paused it.
    UserPaused,
    /// The provider failed, or something that this version does not know.
    #[serde(other)]
    ProviderError,
}
