//! Which sessions a list contains.

use jiff::Timestamp;
use protocol::{
    AgentName,
    sessions::{Session, SessionState},
};

/// Which sessions a list contains: those that match every given criterion.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Used at or after this time.
    pub since: Option<Timestamp>,
    /// Of this agent.
    pub agent: Option<AgentName>,
    /// In exactly this directory.
    pub directory: Option<String>,
    /// In this state.
    pub state: Option<SessionState>,
}

impl SessionFilter {
    pub(crate) fn matches(&self, session: &Session) -> bool {
        let Self { since, agent, directory, state } = self;
        since.is_none_or(|since| session.updated_at >= since)
            && agent.as_ref().is_none_or(|agent| session.agent == *agent)
            && directory.as_ref().is_none_or(|directory| session.directory == *directory)
            && state.is_none_or(|state| session.state == state)
    }
}
