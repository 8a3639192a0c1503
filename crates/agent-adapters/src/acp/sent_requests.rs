//! Requests to the agent that wait for their responses.

use std::collections::HashMap;

use protocol::InputId;
use serde_json::Value;

use super::rpc_message;
use crate::Out;

/// Requests to the agent that wait for their responses.
#[derive(Default)]
pub(super) struct SentRequests {
    last: u64,
    pending: HashMap<u64, SentRequest>,
}

/// The purpose of a request to the agent.
pub(super) enum SentRequest {
    Initialize,
    /// Opens a new session, or resumes one.
    OpenSession {
        resumed: bool,
    },
    /// Sets an option that the session chose, named as in [`AgentError::Unsupported`](protocol::sessions::AgentError).
    Choice(&'static str),
    Prompt(InputId),
    Steer(InputId),
}

impl SentRequests {
    /// Sends a request.
    pub(super) fn send(&mut self, method: &str, params: &Value, purpose: SentRequest, out: &mut Out) {
        self.last += 1;
        self.pending.insert(self.last, purpose);
        out.line(&rpc_message::request(self.last, method, params));
    }

    /// Removes the request to which a response with this id belongs.
    pub(super) fn take(&mut self, id: &Value) -> Option<SentRequest> {
        self.pending.remove(&id.as_u64()?)
    }
}
