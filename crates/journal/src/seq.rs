//! The place of a frame in its journal.

use std::{fmt, str::FromStr};

/// The number of a frame: the first is 1, each next one is one more, and none is ever used twice in one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seq(u64);

impl Seq {
    /// Before everything: reading after it starts at the first frame.
    pub const ZERO: Seq = Seq(0);

    /// The frame with this number.
    pub const fn new(seq: u64) -> Seq {
        Seq(seq)
    }

    /// The bare number, as the doors write it.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of the frame that follows.
    pub const fn next(self) -> Seq {
        Seq(self.0.saturating_add(1))
    }

    /// The position just before this frame: reading after it yields this frame.
    pub const fn before(self) -> Seq {
        Seq(self.0.saturating_sub(1))
    }

    /// How many frames lie after `earlier` up to and including this one; none if `earlier` is not earlier.
    pub const fn since(self, earlier: Seq) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// `count` frames further on.
    pub(crate) const fn plus(self, count: u64) -> Seq {
        Seq(self.0.saturating_add(count))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The text is not a sequence number: decimal digits without sign or leading zero, below 2⁶⁴.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a sequence number")]
pub struct ParseSeqError;

impl FromStr for Seq {
    type Err = ParseSeqError;

    /// Accepts exactly what `Display` writes, so that equal positions are equal texts.
    fn from_str(text: &str) -> Result<Seq, ParseSeqError> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || (text.len() > 1 && text.starts_with('0')) {
            return Err(ParseSeqError);
        }
        text.parse().map(Seq).map_err(|_| ParseSeqError)
    }
}
