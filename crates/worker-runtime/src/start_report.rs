//! The outcome of starting an agent, for the requests that wait for it.

use protocol::sessions::{AgentError, SessionCreated};

use crate::worker_command::CommandReply;

/// The number of warnings that the response to the creation of a session lists.
const WARNINGS_MAX: usize = 64;

/// The outcome of starting an agent, for the requests that wait for it.
#[derive(Default)]
pub(crate) struct StartReport {
    waiting: Vec<CommandReply<SessionCreated>>,
    /// The MCP servers and skills that the agent works without.
    warnings: Vec<AgentError>,
}

impl StartReport {
    /// Adds a request that waits until the agent is ready or has failed.
    pub(crate) fn wait(&mut self, reply: CommandReply<SessionCreated>) {
        self.waiting.push(reply);
    }

    /// Forgets the warnings of an earlier start.
    pub(crate) fn clear_warnings(&mut self) {
        self.warnings.clear();
    }

    /// Adds a warning, unless there are too many.
    pub(crate) fn warn(&mut self, warning: AgentError) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning);
        }
    }

    /// Removes the waiting requests, to answer them with [`StartReport::outcome`].
    pub(crate) fn take_waiting(&mut self) -> Vec<CommandReply<SessionCreated>> {
        std::mem::take(&mut self.waiting)
    }

    /// The response to the waiting requests.
    pub(crate) fn outcome(
        &self,
        error: Option<&AgentError>,
        agent_session_id: Option<String>,
    ) -> SessionCreated {
        SessionCreated {
            healthy: error.is_none(),
            error: error.cloned(),
            agent_session_id,
            warnings: self.warnings.clone(),
        }
    }
}
