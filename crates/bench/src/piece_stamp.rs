//! A number and a time that the stub writes into a piece of text, so that the reader can compute its age.

use std::{io::Write, time::Duration};

use memchr::memmem;

use super::clock;

const AT: &[u8] = b"at=";
const NUMBER: &[u8] = b" n=";

/// The number of a piece of text and the time at which the agent wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PieceStamp {
    pub(crate) at: Duration,
    pub(crate) number: u64,
}

impl PieceStamp {
    pub(crate) fn now(number: u64) -> Self {
        Self { at: clock::now(), number }
    }

    /// Appends the stamp to `text`, in characters that JSON does not escape.
    ///
    /// Both numbers have a fixed width, so that all pieces of a message have the same length.
    pub(crate) fn write(self, text: &mut Vec<u8>) {
        // Writing to a `Vec` does not fail.
        let _ = write!(text, "at={:015} n={:07} ", self.at.as_nanos(), self.number);
    }

    /// Finds the first stamp in `text`.
    pub(crate) fn find_in(text: &[u8]) -> Option<Self> {
        let at = &text[memmem::find(text, AT)? + AT.len()..];
        let number = &at[memmem::find(at, NUMBER)? + NUMBER.len()..];
        Some(Self { at: Duration::from_nanos(digits(at)), number: digits(number) })
    }
}

fn digits(text: &[u8]) -> u64 {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_stamp_is_found() {
        let stamp = PieceStamp { at: Duration::from_nanos(12_345), number: 678 };
        let mut text = b"{\"text\":\"".to_vec();
        stamp.write(&mut text);
        assert_eq!(PieceStamp::find_in(&text), Some(stamp));
        assert_eq!(PieceStamp::find_in(b"nothing at=all"), None);
    }
}
