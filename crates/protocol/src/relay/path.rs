//! Paths below a root.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest path that is taken, in bytes: what Linux takes.
pub const PATH_MAX: usize = 4096;

/// A path below a root: relative and with `/` between its parts. It is as it was said and may hold `..`;
/// whether it stays below the root is told by [`normal`](Self::normal) and by the provider, which looks at the disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct RelayPath(String);

/// Why a text is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// It starts with `/`.
    #[error("a path below a root must be relative")]
    Absolute,
    /// It does not start with `/`, or names only `/`.
    #[error("a virtual path must be absolute and below `/`")]
    Relative,
    /// It goes up.
    #[error("a virtual path must not hold `..`")]
    Parent,
    /// It holds a NUL.
    #[error("a path must not hold a NUL")]
    Nul,
    /// It holds `\`.
    #[error("a path must have `/` between its parts, not `\\`")]
    Backslash,
    /// A part of it starts with a drive.
    #[error("a path must not hold a drive letter")]
    Drive,
    /// It is longer than [`PATH_MAX`].
    #[error("a path must not be longer than {PATH_MAX} bytes")]
    TooLong,
}

impl RelayPath {
    /// As it was said; empty for the root itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path without `.`, `..` and empty parts; none if it leaves the root on its way. Links are not looked at.
    pub fn normal(&self) -> Option<Self> {
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
        spelling(text)?;
        Ok(Self(text.into()))
    }
}

/// What no path may hold.
pub(super) fn spelling(text: &str) -> Result<(), InvalidPath> {
    if text.len() > PATH_MAX {
        return Err(InvalidPath::TooLong);
    }
    match text.bytes().find(|byte| matches!(byte, 0 | b'\\')) {
        Some(0) => return Err(InvalidPath::Nul),
        Some(_) => return Err(InvalidPath::Backslash),
        None => {}
    }
    // In every part, as one may come to the front when `..` is resolved.
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
