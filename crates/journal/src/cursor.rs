//! A position that knows which journal it belongs to.

use std::{fmt, num::NonZeroU64, str::FromStr};

use uuid::Uuid;

use crate::{ParseSeqError, Seq};

/// Digits of an epoch's text form.
const EPOCH_DIGITS: usize = 16;

/// One incarnation of one journal: random, so that a cursor of another journal or of an earlier life is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Epoch(NonZeroU64);

impl Epoch {
    /// A new one, unlike all others.
    pub fn random() -> Epoch {
        loop {
            // A v4 UUID has six fixed bits; turning one half covers each of them with random ones.
            let (high, low) = Uuid::new_v4().as_u64_pair();
            if let Some(bits) = NonZeroU64::new(high ^ low.rotate_left(32)) {
                return Epoch(bits);
            }
        }
    }

    /// The epoch stored as these bits.
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

/// Everything up to and including `seq` in the journal incarnation `epoch` has been read.
///
/// Its text form is `{epoch:016x}-{seq}`. Reading it back is strict: only what `Display` writes is a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The journal incarnation the position belongs to.
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
    /// There is no `-` in it.
    #[error("a cursor is sixteen hex digits, a dash and a number")]
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
