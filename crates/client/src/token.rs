//! The secret that lets us in.

use std::{fmt, str::FromStr};

use reqwest::header::HeaderValue;

/// A bearer token. It prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Box<str>);

/// Why a text is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a token is not empty and has only visible ASCII characters")]
pub struct InvalidToken;

impl Token {
    /// The token itself, for whoever keeps it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The token as the value of `Authorization`, marked so that nothing prints it.
    pub(crate) fn header(&self) -> HeaderValue {
        // `from_str` has let nothing in that a header cannot carry.
        let mut value =
            HeaderValue::try_from(format!("Bearer {}", self.0)).unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }
}

impl FromStr for Token {
    type Err = InvalidToken;

    /// Takes a token as given, without the white space around it.
    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidToken);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_prints_nothing_of_itself() {
        let token: Token = " very-secret\n".parse().unwrap();
        assert_eq!(format!("{token:?} {:?}", token.header()), "*** Sensitive");
        assert_eq!(token.header().as_bytes(), b"Bearer very-secret");
    }

    #[test]
    fn what_a_header_cannot_carry_is_no_token() {
        for text in ["", " ", "a b", "a\nb", "schl\u{fc}ssel"] {
            assert_eq!(text.parse::<Token>(), Err(InvalidToken), "{text:?}");
        }
    }
}
