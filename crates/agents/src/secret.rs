//! A text that does not show itself.

use std::{convert::Infallible, fmt, str::FromStr};

/// A key or a token. It prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text without the white space around it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The text itself, for whoever has to use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Secret {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::new(text))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_prints_nothing_of_itself() {
        let secret: Secret = " hush\n".parse().unwrap();
        assert_eq!((format!("{secret:?}").as_str(), secret.reveal()), ("***", "hush"));
    }
}
