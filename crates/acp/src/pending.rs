//! The requests that wait for the agent's answer, by the text of their id.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use bytes::Bytes;
use journal::Seq;
use protocol::acp::AcpProcessExit;
use tokio::sync::oneshot;

/// How many requests may be unanswered on one instance.
pub(crate) const REQUESTS_MAX: usize = 4096;

/// What a waiting request is told.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The agent's response and its place on the stream.
    Response(Seq, Bytes),
    /// The agent is gone.
    Exited(Arc<AcpProcessExit>),
}

/// Why a request cannot wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Refused {
    InFlight,
    Full,
}

/// The requests that wait. One that nobody waits for any more stays until it is answered, so that its id cannot
/// be used again and a late answer be taken for another's.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    requests: HashMap<Box<str>, Option<oneshot::Sender<Outcome>>>,
}

impl Pending {
    /// Registers a request whose answer is waited for.
    pub(crate) fn wait(&mut self, id: &str) -> Result<oneshot::Receiver<Outcome>, Refused> {
        let (tx, rx) = oneshot::channel();
        self.insert(id, Some(tx))?;
        Ok(rx)
    }

    /// Registers a request whose answer nobody waits for.
    pub(crate) fn note(&mut self, id: &str) -> Result<(), Refused> {
        self.insert(id, None)
    }

    fn insert(&mut self, id: &str, waiter: Option<oneshot::Sender<Outcome>>) -> Result<(), Refused> {
        if self.requests.len() >= REQUESTS_MAX && !self.requests.contains_key(id) {
            self.forget_one()?;
        }
        match self.requests.entry(id.into()) {
            Entry::Occupied(_) => Err(Refused::InFlight),
            Entry::Vacant(place) => {
                place.insert(waiter);
                Ok(())
            }
        }
    }

    /// Makes room by forgetting a request that nobody waits for.
    fn forget_one(&mut self) -> Result<(), Refused> {
        let forgotten = self.requests.iter().find(|(_, waiter)| waiter.is_none()).map(|(id, _)| id.clone());
        let id = forgotten.ok_or(Refused::Full)?;
        self.requests.remove(&id);
        Ok(())
    }

    /// Nobody waits for this request any more; its answer is still to come.
    pub(crate) fn abandon(&mut self, id: &str) {
        if let Some(waiter) = self.requests.get_mut(id) {
            *waiter = None;
        }
    }

    /// The request was never sent.
    pub(crate) fn withdraw(&mut self, id: &str) {
        self.requests.remove(id);
    }

    /// The agent answered: who waits for it, if anybody.
    pub(crate) fn answered(&mut self, id: &str) -> Option<oneshot::Sender<Outcome>> {
        self.requests.remove(id).flatten()
    }

    /// The agent is gone: everybody who waited.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = oneshot::Sender<Outcome>> + use<> {
        std::mem::take(&mut self.requests).into_values().flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// acp-9: an id in flight is refused and the first is untouched.
    #[test]
    fn an_id_in_flight_is_refused_until_it_is_answered() {
        let mut pending = Pending::default();
        let mut first = pending.wait("1").unwrap();
        assert_eq!(pending.wait("1").unwrap_err(), Refused::InFlight);
        pending.wait("\"1\"").unwrap();
        pending.answered("1").unwrap().send(Outcome::Response(Seq::ZERO, Bytes::new())).unwrap();
        assert!(matches!(first.try_recv(), Ok(Outcome::Response(..))));
        assert!(pending.wait("1").is_ok());
    }

    /// acp-10: the answer to an abandoned request is not taken for another's.
    #[test]
    fn an_abandoned_id_stays_in_flight() {
        let mut pending = Pending::default();
        drop(pending.wait("1").unwrap());
        pending.abandon("1");
        assert_eq!(pending.wait("1").unwrap_err(), Refused::InFlight);
        assert!(pending.answered("1").is_none());
        assert!(pending.wait("1").is_ok());
    }

    #[test]
    fn abandoned_requests_make_room_and_waiting_ones_do_not() {
        let mut pending = Pending::default();
        let waiting: Vec<_> = (0..REQUESTS_MAX).map(|id| pending.wait(&id.to_string()).unwrap()).collect();
        assert_eq!(pending.wait("x").unwrap_err(), Refused::Full);
        pending.abandon("7");
        assert!(pending.wait("x").is_ok());
        assert_eq!(pending.len(), waiting.len());
    }
}
