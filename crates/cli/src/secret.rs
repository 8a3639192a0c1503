//! Tokens on their way in: from a flag, a file or the environment.

use std::{convert::Infallible, fmt, path::Path, str::FromStr};

use anyhow::Context;

use crate::environment;

/// The variable that holds the token.
pub(crate) const TOKEN_VARIABLE: &str = "TOMBOLO_TOKEN";

/// A text that prints as `***`.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// The text itself, for whoever has to use it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl FromStr for Secret {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.trim().to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The token that was given: a flag before the file, and both before the environment.
pub(crate) fn token(flag: Option<&Secret>, file: Option<&Path>) -> anyhow::Result<Option<Secret>> {
    if let Some(token) = flag {
        return Ok(Some(token.clone()));
    }
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("could not read the token from `{}`", path.display()))?;
        return Ok(Some(Secret(text.trim().to_owned())));
    }
    let Some(value) = environment::variable(TOKEN_VARIABLE) else { return Ok(None) };
    let text = value.to_str().with_context(|| format!("{TOKEN_VARIABLE} is not a text"))?;
    Ok(Some(Secret(text.trim().to_owned())))
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
