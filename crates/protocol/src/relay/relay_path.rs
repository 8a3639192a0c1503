//! Paths relative to a root.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum length of a path in bytes, equal to the limit of Linux.
pub const PATH_MAX: usize = 4096;

/// A path relative to a root, separated by `/`. It is kept as received and may contain `..`: [`normalized`](Self::normalized)
/// detects lexically that it leaves the root, and the provider checks the file system.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct RelayPath(String);

/// Rules that a path can violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// A path below a root starts with `/`.
    #[error("a path below a root must be relative")]
    Absolute,
    /// A virtual path does not start with `/`, or is `/` itself.
    #[error("a virtual path must be absolute and below `/`")]
    Relative,
    /// A virtual path contains `..`.
    #[error("a virtual path must not hold `..`")]
    Parent,
    /// The path contains a NUL character.
    #[error("a path must not hold a NUL")]
    Nul,
    /// The path contains `\`.
    #[error("a path must have `/` between its parts, not `\\`")]
    Backslash,
    /// A component starts with a drive letter.
    #[error("a path must not hold a drive letter")]
    Drive,
    /// The path is longer than [`PATH_MAX`].
    #[error("a path must not be longer than {PATH_MAX} bytes")]
    TooLong,
}

impl RelayPath {
    /// The path as received; empty for the root itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Resolves `.`, `..` and empty components lexically, without following symbolic links. Returns `None` if the
    /// path leaves the root at any point.
    pub fn normalized(&self) -> Option<Self> {
        let mut parts = Vec::new();
        for part in self.0.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        Some(Self(parts.join("/")))
    }
}

impl FromStr for RelayPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        if text.starts_with('/') {
            return Err(InvalidPath::Absolute);
        }
        check_spelling(text)?;
        Ok(Self(text.into()))
    }
}

/// Checks the rules that all paths share.
pub(super) fn check_spelling(text: &str) -> Result<(), InvalidPath> {
    if text.len() > PATH_MAX {
        return Err(InvalidPath::TooLong);
    }
    match text.bytes().find(|byte| matches!(byte, 0 | b'\\')) {
        Some(0) => return Err(InvalidPath::Nul),
        Some(_) => return Err(InvalidPath::Backslash),
        None => {}
    }
    // Check every component: resolving `..` can move any of them to the front.
    let is_drive = |part: &str| matches!(part.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if text.split('/').any(is_drive) {
        return Err(InvalidPath::Drive);
    }
    Ok(())
}

impl TryFrom<String> for RelayPath {
    type Error = InvalidPath;

    fn try_from(text: String) -> Result<Self, InvalidPath> {
        text.parse()
    }
}

impl From<RelayPath> for String {
    fn from(path: RelayPath) -> String {
        path.0
    }
}

impl fmt::Display for RelayPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
