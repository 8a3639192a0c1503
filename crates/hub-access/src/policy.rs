//! Who sees what, and who may do what: the one place where that is decided.
//!
//! Left alone everything passes. A policy says whether somebody may watch a worker or send a command, and through which
//! lens they see what happens. Whoever sees everything gets the frames that all share, unread. It is asked again on
//! streams that are open whenever it changes, and whenever somebody's role does. It knows nothing of tokens.

mod combined;
mod current;
mod error_message;
mod hidden_content;
mod lost_parts;
mod paths;
mod redaction;
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

/// Decides.
pub trait Policy: Send + Sync + 'static {
    /// Whether this may be done. What waits in all runtimes is not asked for here: it is shown to those who have a role in the
    /// workspace, as they see it.
    fn may(&self, _who: &PolicySubject, _what: &RequestedAction<'_>) -> Decision {
        Decision::Allowed
    }

    /// How the workers of a runtime look. Who is given another lens than before is told anew what a worker has come to.
    fn visibility(&self, _who: &PolicySubject, _runtime: &RuntimeId) -> Visibility {
        Visibility::Full
    }
}

/// Somebody, as far as the workspace of a runtime is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySubject {
    /// Their name.
    pub user: UserName,
    /// The workspace.
    pub workspace: WorkspaceName,
    /// Their role in it; who manages the hub may have none.
    pub role: Option<Role>,
}

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedAction<'a> {
    /// Watch a worker.
    Watch {
        /// The runtime.
        runtime: &'a RuntimeId,
        /// The worker.
        worker: &'a SessionId,
    },
    /// Ask something of a runtime.
    Command {
        /// The runtime.
        runtime: &'a RuntimeId,
        /// The worker that it is about, if it is about one.
        worker: Option<&'a SessionId>,
        /// What is asked, such as `sessions.send`.
        action: &'a str,
        /// The least role that this is meant for.
        needs: Role,
    },
}

/// Whether something may be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allowed,
    /// It may not: why, for people.
    Denied(String),
}

/// How what happens looks to somebody.
#[derive(Clone)]
pub enum Visibility {
    /// As it is.
    Full,
    /// As a lens shows it. Those who have the same lens share what it shows.
    Redacted(Arc<dyn Redactor>),
}

impl Visibility {
    /// Anything that is told of a worker or its runtime, as it is seen; nothing if it cannot be shown.
    pub fn show<T: Serialize + DeserializeOwned>(&self, told: T) -> Option<T> {
        match self {
            Self::Full => Some(told),
            Self::Redacted(lens) => serde_json::from_value(lens.value(serde_json::to_value(told).ok()?)).ok(),
        }
    }

    /// Something that waits for a person, as it is seen; nothing if it cannot be shown.
    pub fn wait(&self, wait: Wait) -> Option<Wait> {
        match self {
            Self::Full => Some(wait),
            Self::Redacted(lens) => lens.wait(wait),
        }
    }
}

/// Shows what happens otherwise than it is.
pub trait Redactor: Send + Sync + 'static {
    /// Begins to look at a worker.
    fn look(&self) -> Box<dyn StreamRedactor>;

    /// Anything else that is told of a worker or its runtime, such as a session or a problem.
    fn value(&self, value: Value) -> Value {
        value
    }

    /// Something that waits for a person; nothing if it cannot be shown.
    fn wait(&self, wait: Wait) -> Option<Wait> {
        serde_json::from_value(self.value(serde_json::to_value(wait).ok()?)).ok()
    }
}

/// Looks at what happens in one worker, event by event, in order.
pub trait StreamRedactor: Send {
    /// Everything before the next event comes to this.
    fn begin(&mut self, _snapshot: &SessionSnapshot) {}

    /// A part of a message that began before the next event, nobody knows how.
    fn lose(&mut self, _message: &str, _part: &str) {}

    /// The next event as it is shown; nothing if it is shown as it is.
    fn event(&mut self, event: &Event) -> Option<Event>;

    /// What all events so far come to, as it is shown: what was not shown yet of a text that is being said comes with
    /// the next event.
    fn snapshot(&self, snapshot: SessionSnapshot) -> SessionSnapshot;
}

/// Everything passes.
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
