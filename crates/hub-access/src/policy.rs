//! The policy: which actions a role may do with a runtime, and which part of a session's events it sees.
//!
//! A policy decides about a user, a workspace and a role, and does not know tokens. Viewers that see everything share the
//! frames of a feed unparsed. Open streams evaluate the policy again whenever it, or the role of their caller, changes.

mod combined;
mod current;
mod directory_policy;
mod error_message;
mod hidden_content;
mod lost_parts;
mod paths;
mod redaction;
mod relative_directories;
mod roles;
mod scanner;
mod session_rules;
mod tool_input;

use std::sync::Arc;

use protocol::{
    Event, RuntimeId, SessionId, UserName, WorkspaceName, hub::Role, sessions::SessionSnapshot, wait::Wait,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub use combined::CombinedPolicy;
pub use current::{CurrentPolicy, PolicyError};
pub use hidden_content::HiddenContent;
pub use paths::{InvalidPathRules, PathRules};
pub use redaction::RedactionPolicy;
pub use roles::RolePolicy;
pub use session_rules::{ControllerRule, OwnerOnly, SessionRules};

pub use lost_parts::lost;

/// Decides about actions and visibility. The default implementation allows everything and hides nothing.
pub trait Policy: Send + Sync + 'static {
    /// Whether the user may do this. The inbox of waits does not call it: it shows a wait, redacted, to every user with a role
    /// in the workspace.
    fn may(&self, _subject: &PolicySubject, _requested: &RequestedAction<'_>) -> Decision {
        Decision::Allowed
    }

    /// The part of a runtime's events that the user sees. A viewer whose visibility changes gets a new snapshot.
    fn visibility(&self, _subject: &PolicySubject, _runtime: &RuntimeId) -> Visibility {
        Visibility::Full
    }
}

/// A user in the workspace of a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySubject {
    /// The name of the user.
    pub user: UserName,
    /// The workspace.
    pub workspace: WorkspaceName,
    /// The role in it; an administrator may have none.
    pub role: Option<Role>,
}

/// An action on a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedAction<'a> {
    /// Watch a worker.
    Watch {
        /// The runtime.
        runtime: &'a RuntimeId,
        /// The worker.
        worker: &'a SessionId,
    },
    /// Send a request to a runtime.
    Command {
        /// The runtime.
        runtime: &'a RuntimeId,
        /// The worker that the request is about, if there is one.
        worker: Option<&'a SessionId>,
        /// The name of the action, such as `sessions.send`.
        action: &'a str,
        /// The least role that the route table requires.
        needs: Role,
    },
}

/// The decision about an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The action is allowed.
    Allowed,
    /// The action is denied: the reason, for the client.
    Denied(String),
}

/// The part of a session's events that a user sees.
#[derive(Clone)]
pub enum Visibility {
    /// Everything, unchanged.
    Full,
    /// The output of a redactor. Viewers with the same redactor share its output.
    Redacted(Arc<dyn Redactor>),
}

impl Visibility {
    /// Whether parts of what agents and people say are hidden.
    pub fn hides_content(&self) -> bool {
        match self {
            Self::Full => false,
            Self::Redacted(redactor) => redactor.hides_content(),
        }
    }

    /// A value about a worker or its runtime, redacted; `None` if it cannot be shown.
    pub fn show<T: Serialize + DeserializeOwned>(&self, told: T) -> Option<T> {
        match self {
            Self::Full => Some(told),
            Self::Redacted(lens) => serde_json::from_value(lens.value(serde_json::to_value(told).ok()?)).ok(),
        }
    }

    /// A wait, redacted; `None` if it cannot be shown.
    pub fn wait(&self, wait: Wait) -> Option<Wait> {
        match self {
            Self::Full => Some(wait),
            Self::Redacted(lens) => lens.wait(wait),
        }
    }
}

/// Redacts sessions, waits and other responses about a runtime.
pub trait Redactor: Send + Sync + 'static {
    /// Starts to redact the events of a worker.
    fn redact_stream(&self) -> Box<dyn StreamRedactor>;

    /// Whether it hides parts of what agents and people say. One that does not changes descriptions of sessions only: all
    /// other responses and streams pass unchanged.
    fn hides_content(&self) -> bool {
        true
    }

    /// Whether it could change this encoded frame. A frame that it could not change is not parsed.
    fn may_change(&self, _frame: &[u8]) -> bool {
        true
    }

    /// Redacts any other value about a worker or its runtime, such as a session or a problem.
    fn value(&self, value: Value) -> Value {
        value
    }

    /// Redacts a wait; `None` if it cannot be shown.
    fn wait(&self, wait: Wait) -> Option<Wait> {
        serde_json::from_value(self.value(serde_json::to_value(wait).ok()?)).ok()
    }
}

/// Redacts the events of one worker, in order.
pub trait StreamRedactor: Send {
    /// Starts from a snapshot: the state before the next event.
    fn begin(&mut self, _snapshot: &SessionSnapshot) {}

    /// Reports a part of a message whose beginning is not known, because it precedes the next event.
    fn lose(&mut self, _message: &str, _part: &str) {}

    /// Redacts the next event; `None` if it stays unchanged.
    fn event(&mut self, event: &Event) -> Option<Event>;

    /// Redacts the snapshot after all events so far. The held back end of a text that is still growing comes with the next
    /// event.
    fn snapshot(&self, snapshot: SessionSnapshot) -> SessionSnapshot;
}

/// Allows everything and hides nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowEverything;

impl Policy for AllowEverything {}

impl std::fmt::Debug for Visibility {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Full => "Full",
            Self::Redacted(_) => "Redacted",
        })
    }
}
