//! Whether a runtime could be reached when it was last asked.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

/// Whether a runtime could be reached when it was last asked. Clones are of the same runtime.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach(Arc<AtomicU8>);

/// How it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody has asked it yet.
    Unknown,
    Up,
    Down,
}

impl Reach {
    /// It was asked just now; whether it could be reached.
    pub(crate) fn note(&self, up: bool) {
        self.0.store(if up { 1 } else { 2 }, Ordering::Relaxed);
    }

    /// How it was.
    pub(crate) fn state(&self) -> State {
        match self.0.load(Ordering::Relaxed) {
            0 => State::Unknown,
            1 => State::Up,
            _ => State::Down,
        }
    }
}

impl State {
    /// How it is, if that is known.
    pub(crate) fn now(up: bool) -> Self {
        if up { State::Up } else { State::Down }
    }

    /// As it is counted.
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Unknown => "unknown",
            State::Up => "up",
            State::Down => "down",
        }
    }
}
