//! Requests that the agent has not answered yet, by the text of their id.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use bytes::Bytes;
use journal::Seq;
use protocol::acp::AcpProcessExit;
use tokio::sync::oneshot;

/// How many requests may be in flight on one instance.
pub(crate) const REQUESTS_MAX: usize = 4096;

/// The result of a request that a caller waits for.
#[derive(Debug)]
pub(crate) enum RequestOutcome {
    /// The agent's response, and its position on the event stream.
    Response { seq: Seq, body: Bytes },
    /// The agent exited first.
    Exited(Arc<AcpProcessExit>),
}

/// Why a request cannot be registered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RegisterError {
    /// Another request with this id is unanswered.
    InFlight,
    /// A caller waits for each of the [`REQUESTS_MAX`] requests in flight.
    Full,
}

/// The requests in flight. One whose caller left stays registered until the agent responds: if its id could be used
/// again, the late response would be taken for the response to the new request.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    /// The callers that wait; `None` if no caller waits for this response.
    requests: HashMap<Box<str>, Option<oneshot::Sender<RequestOutcome>>>,
}

impl PendingRequests {
    /// Registers a request whose caller waits for the response.
    pub(crate) fn register(&mut self, id: &str) -> Result<oneshot::Receiver<RequestOutcome>, RegisterError> {
        let (tx, rx) = oneshot::channel();
        self.insert(id, Some(tx))?;
        Ok(rx)
    }

    /// Registers a request whose caller does not wait for the response.
    pub(crate) fn register_detached(&mut self, id: &str) -> Result<(), RegisterError> {
        self.insert(id, None)
    }

    fn insert(
        &mut self,
        id: &str,
        waiter: Option<oneshot::Sender<RequestOutcome>>,
    ) -> Result<(), RegisterError> {
        if self.requests.len() >= REQUESTS_MAX && !self.requests.contains_key(id) {
            self.evict_abandoned()?;
        }
        match self.requests.entry(id.into()) {
            Entry::Occupied(_) => Err(RegisterError::InFlight),
            Entry::Vacant(vacant) => {
                vacant.insert(waiter);
                Ok(())
            }
        }
    }

    /// Makes room by removing a request that no caller waits for.
    fn evict_abandoned(&mut self) -> Result<(), RegisterError> {
        let abandoned = self.requests.iter().find(|(_, waiter)| waiter.is_none()).map(|(id, _)| id.clone());
        let id = abandoned.ok_or(RegisterError::Full)?;
        self.requests.remove(&id);
        Ok(())
    }

    /// The caller left; the agent's response is still to come.
    pub(crate) fn abandon(&mut self, id: &str) {
        if let Some(waiter) = self.requests.get_mut(id) {
            *waiter = None;
        }
    }

    /// Removes a request that was not written to the agent.
    pub(crate) fn withdraw(&mut self, id: &str) {
        self.requests.remove(id);
    }

    /// Removes a request that the agent answered. Returns the caller that waits for the response, if there is one.
    pub(crate) fn complete(&mut self, id: &str) -> Option<oneshot::Sender<RequestOutcome>> {
        self.requests.remove(id).flatten()
    }

    /// Removes all requests, because the agent exited. Returns the callers that wait.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = oneshot::Sender<RequestOutcome>> + use<> {
        std::mem::take(&mut self.requests).into_values().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// acp-9: an id in flight is rejected, and the first request is unaffected.
    #[test]
    fn an_id_in_flight_is_rejected_until_the_agent_responds() {
        let mut pending = PendingRequests::default();
        let mut first = pending.register("1").unwrap();
        assert_eq!(pending.register("1").unwrap_err(), RegisterError::InFlight);
        pending.register("\"1\"").unwrap();
        pending
            .complete("1")
            .unwrap()
            .send(RequestOutcome::Response { seq: Seq::ZERO, body: Bytes::new() })
            .unwrap();
        assert!(matches!(first.try_recv(), Ok(RequestOutcome::Response { .. })));
        assert!(pending.register("1").is_ok());
    }

    /// acp-10: the response to an abandoned request is not taken for the response to another.
    #[test]
    fn an_abandoned_id_stays_in_flight() {
        let mut pending = PendingRequests::default();
        drop(pending.register("1").unwrap());
        pending.abandon("1");
        assert_eq!(pending.register("1").unwrap_err(), RegisterError::InFlight);
        assert!(pending.complete("1").is_none());
        assert!(pending.register("1").is_ok());
    }

    #[test]
    fn abandoned_requests_make_room_and_waiting_ones_do_not() {
        let mut pending = PendingRequests::default();
        let waiting: Vec<_> =
            (0..REQUESTS_MAX).map(|id| pending.register(&id.to_string()).unwrap()).collect();
        assert_eq!(pending.register("x").unwrap_err(), RegisterError::Full);
        pending.abandon("7");
        assert!(pending.register("x").is_ok());
        assert_eq!(pending.len(), waiting.len());
    }
}
