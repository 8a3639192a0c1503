//! Cursors: positions that name the journal they belong to.

use std::{fmt, num::NonZeroU64, str::FromStr};

use uuid::Uuid;

use crate::{ParseSeqError, Seq};

/// The length of an epoch in text form.
const EPOCH_DIGITS: usize = 16;

/// The random id of one incarnation of a journal.
///
/// A journal that loses its content (a ring after a restart, a journal that was deleted and created again) numbers its
/// frames from 1 again. The epoch in each cursor tells the new numbers from the old ones, so that a stale cursor is
/// rejected instead of silently selecting the wrong frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch(NonZeroU64);

impl Epoch {
    /// A new random epoch.
    pub fn random() -> Epoch {
        loop {
            // A version 4 UUID has six fixed bits. Rotating one half by 32 bits moves its fixed bits away from those of
            // the other half, so that XOR leaves 64 random bits.
            let (high, low) = Uuid::new_v4().as_u64_pair();
            if let Some(bits) = NonZeroU64::new(high ^ low.rotate_left(32)) {
                return Epoch(bits);
            }
        }
    }

    /// Restores an epoch from its stored bits.
    pub const fn from_bits(bits: NonZeroU64) -> Epoch {
        Epoch(bits)
    }

    /// The bits to store.
    pub const fn to_bits(self) -> NonZeroU64 {
        self.0
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A reader's position: all frames up to and including `seq` in the incarnation `epoch` have been read.
///
/// The text form is `{epoch:016x}-{seq}`. Parsing is strict: it accepts only what `Display` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The incarnation of the journal.
    pub epoch: Epoch,
    /// The last frame that was read.
    pub seq: Seq,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.seq)
    }
}

/// Why a text is not a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseCursorError {
    /// It contains no `-`.
    #[error("a cursor consists of sixteen hex digits, a dash and a number")]
    Shape,
    /// The part before the dash is not sixteen lower-case hex digits, or all of them are zero.
    #[error("a cursor starts with sixteen lower-case hex digits that are not all zero")]
    Epoch,
    /// The part after the dash is not a sequence number.
    #[error("a cursor ends with a sequence number")]
    Seq(#[from] ParseSeqError),
}

impl FromStr for Cursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Cursor, ParseCursorError> {
        let (epoch, seq) = text.split_once('-').ok_or(ParseCursorError::Shape)?;
        let digits = epoch.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !digits || epoch.len() != EPOCH_DIGITS {
            return Err(ParseCursorError::Epoch);
        }
        let bits = u64::from_str_radix(epoch, 16).map_err(|_| ParseCursorError::Epoch)?;
        let epoch = Epoch(NonZeroU64::new(bits).ok_or(ParseCursorError::Epoch)?);
        Ok(Cursor { epoch, seq: seq.parse()? })
    }
}

#[cfg(test)]
mod tests;
