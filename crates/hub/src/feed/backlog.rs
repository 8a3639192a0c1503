//! Where the last events of a worker are in the ring, by what the runtime calls their places.

use std::collections::{HashMap, VecDeque};

use journal::Seq;

#[derive(Debug, Default)]
pub(super) struct Backlog {
    seqs: HashMap<String, Seq>,
    /// The same, the oldest first.
    order: VecDeque<(Seq, String)>,
}

impl Backlog {
    pub(super) fn find(&self, place: &str) -> Option<Seq> {
        self.seqs.get(place).copied()
    }

    pub(super) fn add(&mut self, place: &str, seq: Seq) {
        self.seqs.insert(place.into(), seq);
        self.order.push_back((seq, place.into()));
    }

    /// Forgets those before `oldest`: the one at it is kept, as what follows it can be read.
    pub(super) fn forget_before(&mut self, oldest: Seq) {
        while let Some((seq, _)) = self.order.front()
            && *seq < oldest
            && let Some((_, place)) = self.order.pop_front()
        {
            self.seqs.remove(&place);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
