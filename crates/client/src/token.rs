//! The bearer token that a client sends.

use std::str::FromStr;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

/// A bearer token. Its `Debug` output hides the text, and its memory is zeroed when it is dropped.
#[derive(Debug, Clone)]
pub struct Token(SecretString);

/// The text is not a valid token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the token must have at least one character, and visible ASCII characters only")]
pub struct InvalidToken;

impl Token {
    /// The value of the header `Authorization`, marked as sensitive so that it is not logged.
    pub(crate) fn header(&self) -> HeaderValue {
        // Never empty: `from_str` accepts only characters that are valid in a header.
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0.expose_secret()))
            .unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }
}

impl FromStr for Token {
    type Err = InvalidToken;

    /// Checks a token, without the white space around it.
    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidToken);
        }
        Ok(Self(text.into()))
    }
}

impl ExposeSecret<str> for Token {
    fn expose_secret(&self) -> &str {
        self.0.expose_secret()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_does_not_contain_the_token() {
        let token: Token = " very-secret\n".parse().unwrap();
        assert!(!format!("{token:?} {:?}", token.header()).contains("very-secret"));
        assert_eq!(token.header().as_bytes(), b"Bearer very-secret");
    }

    #[test]
    fn what_a_header_cannot_carry_is_no_token() {
        for text in ["", " ", "a b", "a\nb", "schl\u{fc}ssel"] {
            assert_eq!(text.parse::<Token>().err(), Some(InvalidToken), "{text:?}");
        }
    }
}
