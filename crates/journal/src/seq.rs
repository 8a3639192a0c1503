//! The sequence number of a frame.

use std::{fmt, str::FromStr};

/// The number of a frame in its journal: 1 for the first, then counting up. A number is never reused within an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seq(u64);

impl Seq {
    /// The position before the first frame: reading after it returns everything.
    pub const ZERO: Seq = Seq(0);

    /// The sequence number `seq`.
    pub const fn new(seq: u64) -> Seq {
        Seq(seq)
    }

    /// The number itself, as protocols write it.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of the following frame.
    pub const fn next(self) -> Seq {
        Seq(self.0.saturating_add(1))
    }

    /// The position just before this frame: reading after it returns this frame.
    pub const fn before(self) -> Seq {
        Seq(self.0.saturating_sub(1))
    }

    /// The number of frames after `earlier` up to and including this one; 0 if `earlier` is not earlier.
    pub const fn since(self, earlier: Seq) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The number `count` frames later.
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

    /// Accepts only the form that `Display` writes, so that equal positions have equal texts.
    fn from_str(text: &str) -> Result<Seq, ParseSeqError> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || (text.len() > 1 && text.starts_with('0')) {
            return Err(ParseSeqError);
        }
        text.parse().map(Seq).map_err(|_| ParseSeqError)
    }
}
