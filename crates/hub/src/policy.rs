//! Who sees what, and who may do what: the one place where that is decided.
//!
//! Left alone everything passes. A policy says whether somebody may watch a worker or send a command, and through which
//! lens they see what happens. Whoever sees everything gets the frames that all share, unread. It is asked again on
//! streams that are open whenever it changes, and whenever somebody's role does. It knows nothing of tokens.

mod current;
mod hidden;
mod lost;
mod paths;
mod redaction;
mod roles;
mod scanner;

use std::sync::Arc;

use protocol::{Event, RuntimeId, SessionId, UserName, Workspace, hub::Role, sessions::Snapshot, wait::Wait};
use serde_json::Value;

pub use current::{Policies, PolicyError};
pub use hidden::Hidden;
pub use paths::{InvalidPaths, Paths};
pub use redaction::Redaction;
pub use roles::Roles;

pub(crate) use lost::lost;

/// Decides.
pub trait Policy: Send + Sync + 'static {
    /// Whether this may be done.
    fn may(&self, _who: &Who, _what: &What<'_>) -> Verdict {
        Verdict::Allowed
    }

    /// How the workers of a runtime look.
    fn sight(&self, _who: &Who, _runtime: &RuntimeId) -> Sight {
        Sight::Whole
    }
}

/// Somebody, as far as the workspace of a runtime is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// Their name.
    pub user: UserName,
    /// The workspace.
    pub workspace: Workspace,
    /// Their role in it; who manages the hub may have none.
    pub role: Option<Role>,
}

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What<'a> {
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
        /// What is asked, such as `sessions.send`.
        verb: &'a str,
        /// The least role that this is meant for.
        needs: Role,
    },
}

/// Whether something may be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Allowed,
    /// It may not: why, for people.
    Denied(String),
}

/// How what happens looks to somebody.
#[derive(Clone)]
pub enum Sight {
    /// As it is.
    Whole,
    /// As a lens shows it. Those who have the same lens share what it shows.
    Through(Arc<dyn Lens>),
}

/// Shows what happens otherwise than it is.
pub trait Lens: Send + Sync + 'static {
    /// Begins to look at a worker.
    fn look(&self) -> Box<dyn Look>;

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
pub trait Look: Send {
    /// Everything before the next event comes to this.
    fn begin(&mut self, _snapshot: &Snapshot) {}

    /// A part of a message that began before the next event, nobody knows how.
    fn lose(&mut self, _message: &str, _part: &str) {}

    /// The next event as it is shown; nothing if it is shown as it is.
    fn event(&mut self, event: &Event) -> Option<Event>;

    /// What all events so far come to, as it is shown: what was not shown yet of a text that is being said comes with
    /// the next event.
    fn snapshot(&self, snapshot: Snapshot) -> Snapshot;
}

/// Everything passes.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassThrough;

impl Policy for PassThrough {}

/// Two policies: both must allow what is done, and what the first shows is shown through the second.
pub struct Both(pub Arc<dyn Policy>, pub Arc<dyn Policy>);

impl Policy for Both {
    fn may(&self, who: &Who, what: &What<'_>) -> Verdict {
        match self.0.may(who, what) {
            Verdict::Allowed => self.1.may(who, what),
            denied @ Verdict::Denied(_) => denied,
        }
    }

    fn sight(&self, who: &Who, runtime: &RuntimeId) -> Sight {
        match (self.0.sight(who, runtime), self.1.sight(who, runtime)) {
            (Sight::Whole, sight) | (sight, Sight::Whole) => sight,
            (Sight::Through(near), Sight::Through(far)) => Sight::Through(Arc::new(Stacked(near, far))),
        }
    }
}

/// A lens behind a lens.
struct Stacked(Arc<dyn Lens>, Arc<dyn Lens>);

impl Lens for Stacked {
    fn look(&self) -> Box<dyn Look> {
        Box::new(StackedLook(self.0.look(), self.1.look()))
    }

    fn value(&self, value: Value) -> Value {
        self.1.value(self.0.value(value))
    }

    fn wait(&self, wait: Wait) -> Option<Wait> {
        self.1.wait(self.0.wait(wait)?)
    }
}

struct StackedLook(Box<dyn Look>, Box<dyn Look>);

impl Look for StackedLook {
    fn begin(&mut self, snapshot: &Snapshot) {
        self.0.begin(snapshot);
        self.1.begin(&self.0.snapshot(snapshot.clone()));
    }

    fn lose(&mut self, message: &str, part: &str) {
        self.0.lose(message, part);
        self.1.lose(message, part);
    }

    fn event(&mut self, event: &Event) -> Option<Event> {
        let near = self.0.event(event);
        let far = self.1.event(near.as_ref().unwrap_or(event));
        far.or(near)
    }

    fn snapshot(&self, snapshot: Snapshot) -> Snapshot {
        self.1.snapshot(self.0.snapshot(snapshot))
    }
}

impl std::fmt::Debug for Sight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Whole => "Whole",
            Self::Through(_) => "Through",
        })
    }
}
