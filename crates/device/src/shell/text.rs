//! Output is read in pieces that know nothing of characters: here they are put together again.

use bytes::Bytes;

/// The longest beginning of a character that can be missing its end.
const REST_MAX: usize = 3;

/// What was read of one stream and is the beginning of a character.
#[derive(Debug, Default)]
pub(super) struct Text {
    rest: Vec<u8>,
}

impl Text {
    /// What can be told of what was held back and these bytes: if it is text, it ends with a whole character.
    pub(super) fn take(&mut self, bytes: Bytes) -> Bytes {
        let bytes = if self.rest.is_empty() {
            bytes
        } else {
            self.rest.extend_from_slice(&bytes);
            Bytes::from(std::mem::take(&mut self.rest))
        };
        let whole = whole(&bytes);
        self.rest.extend_from_slice(&bytes[whole..]);
        bytes.slice(..whole)
    }

    /// What is left at the end.
    pub(super) fn end(&mut self) -> Bytes {
        std::mem::take(&mut self.rest).into()
    }
}

/// How much of it does not end within a character. What is no text has no characters, so that is all of it.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() => {
            let valid = error.valid_up_to();
            if bytes.len() - valid <= REST_MAX { valid } else { bytes.len() }
        }
        Err(_) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// relay-48
    #[test]
    fn a_character_is_never_cut() {
        let text = "aß漢🦀 and more";
        for cut in 0..=text.len() {
            for second in cut..=text.len() {
                let mut splitter = Text::default();
                let parts =
                    [&text.as_bytes()[..cut], &text.as_bytes()[cut..second], &text.as_bytes()[second..]];
                let mut told = String::new();
                for part in parts {
                    let part = splitter.take(Bytes::copy_from_slice(part));
                    told.push_str(std::str::from_utf8(&part).expect("each piece is text"));
                }
                assert_eq!((told.as_str(), splitter.end().len()), (text, 0));
            }
        }
    }

    /// relay-48
    #[test]
    fn what_is_no_text_is_told_all_the_same() {
        let mut splitter = Text::default();
        assert_eq!(splitter.take(Bytes::from_static(b"a\xffb")), &b"a\xffb"[..]);
        assert_eq!(splitter.take(Bytes::from_static(b"a\xe6\xbc")), &b"a"[..]);
        assert_eq!(splitter.take(Bytes::from_static(b"x")), &b"\xe6\xbcx"[..]);
        assert_eq!(splitter.take(Bytes::from_static(b"\xf0\x9f")), &b""[..]);
        assert_eq!(splitter.end(), &b"\xf0\x9f"[..]);
    }
}
