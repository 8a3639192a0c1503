//! Heartbeats: detects a peer that no longer responds.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use protocol::relay::{Frame, PingFrame};
use tokio::time::Instant;

use crate::{Lost, limits::MISSED_MAX, peer::Shared};

/// The unanswered heartbeats.
pub(super) struct Heartbeat {
    unanswered: VecDeque<(PingFrame, Instant)>,
    asked: u64,
    latency: Arc<AtomicU64>,
}

impl Heartbeat {
    pub(super) fn new(shared: &Shared) -> Self {
        Self { unanswered: VecDeque::new(), asked: 0, latency: shared.latency.clone() }
    }

    /// Creates the next heartbeat.
    ///
    /// # Errors
    /// If too many are unanswered.
    pub(super) fn ask(&mut self) -> Result<Frame, Lost> {
        if self.unanswered.len() >= MISSED_MAX {
            return Err(Lost::Silent);
        }
        self.asked += 1;
        let beat = PingFrame::now(format!("ping_{}", self.asked));
        self.unanswered.push_back((beat.clone(), Instant::now()));
        Ok(Frame::Ping(beat))
    }

    /// Handles a response of the peer; one that matches no heartbeat is ignored.
    pub(super) fn answered(&mut self, beat: &PingFrame) {
        let Some(place) = self.unanswered.iter().position(|(asked, _)| asked == beat) else { return };
        let (_, at) = self.unanswered[place];
        // A response also counts for the earlier heartbeats.
        self.unanswered.drain(..=place);
        let micros = u64::try_from(at.elapsed().as_micros()).unwrap_or(u64::MAX - 1);
        self.latency.store(micros, Relaxed);
    }
}
