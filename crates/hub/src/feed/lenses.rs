//! The lenses through which somebody looks at a worker.

use std::sync::Arc;

use bytes::Bytes;
use journal::{RingJournal, Seq};
use protocol::sessions::SessionSnapshot;

use super::shown::{Shown, Ticket};
use crate::policy::Redactor;

/// What each of them shows.
#[derive(Default)]
pub(super) struct Lenses(Vec<Shown>);

impl Lenses {
    /// What a lens shows of what the ring has, all of which has come to `now`.
    pub(super) fn look(
        &mut self,
        lens: &Arc<dyn Redactor>,
        ring: &RingJournal,
        now: impl FnOnce() -> SessionSnapshot,
    ) -> &mut Shown {
        let at = self.0.iter().position(|shown| shown.is_through(lens)).unwrap_or_else(|| {
            self.0.push(Shown::new(Arc::clone(lens), ring, &now()));
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// What somebody sees.
    pub(super) fn of(&self, ticket: &Arc<Ticket>) -> Option<&Shown> {
        self.0.iter().find(|shown| shown.is_of(ticket))
    }

    /// Looks at what was appended to the ring, of which `oldest` is the first now.
    pub(super) fn take(&mut self, oldest: Seq, seq: Seq, frame: &Bytes) {
        self.0.retain(|shown| !shown.is_over());
        for shown in &mut self.0 {
            shown.take(seq, frame);
            shown.forget_before(oldest);
        }
    }
}
